package io.conclave.testcontainers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.dockerjava.api.model.Bind;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.utility.DockerImageName;

/** One server in a container. */
class ConclaveContainerIT {
    private static final NodePath NODE = NodePath.of("/kept");
    private static final long MEMORY_BYTES = 160L << 20;

    @Test
    void lockIsTakenAndVariablesOfZooKeeperAreUnderstood() throws Exception {
        try (ConclaveContainer server = TestImage.server()
                .withEnv("ZOO_TICK_TIME", "500")
                .withEnv("ZOO_MAX_CLIENT_CNXNS", "7")
                .withEnv("ZOO_INIT_LIMIT", "20")
                .withEnv("ZOO_STANDALONE_ENABLED", "true")
                .withEnv("ZOO_ADMINSERVER_ENABLED", "false")
                .withEnv("ZOO_4LW_COMMANDS_WHITELIST", "srvr,mntr")
                .withEnv("ZOO_CFG_EXTRA", "maxSessionTimeout=9000 tickTime=400")
                .withEnv("SERVER_JVMFLAGS", "-Xmx100m")) {
            server.start();
            try (Coordinator coordinator = Coordinator.connect(server.getConnectString());
                    LockGrant held = DistributedLock.at(coordinator, "/orders").acquire()) {
                assertTrue(held.isHeld());
            }
            String config = server.execInContainer("cat", "/conf/zoo.cfg").getStdout();
            assertTrue(config.contains("maxClientCnxns=7\n"), config);
            assertTrue(config.contains("tickTime=400\n") && !config.contains("tickTime=500"), config);
            assertTrue(config.contains("4lw.commands.whitelist=srvr,mntr\n"), config);
            assertEquals(
                    "1000:1000\n",
                    server.execInContainer("id", "-u").getStdout().strip() + ":"
                            + server.execInContainer("id", "-g").getStdout());
            assertEquals(
                    "standalone",
                    server.execInContainer("conclave-health").getStdout().strip());
        }
    }

    @Test
    void volumesKeepTheStateWhenAContainerIsReplaced() throws Exception {
        TestImage.name(); // without an engine there is no volume to remove
        String volume = "conclave-" + UUID.randomUUID();
        try {
            try (ConclaveContainer first = onVolume(volume)) {
                first.start();
                try (Coordinator coordinator = Coordinator.connect(first.getConnectString())) {
                    coordinator.execute(Create.of(NODE));
                }
            }
            try (ConclaveContainer second = onVolume(volume)) {
                second.start();
                try (Coordinator coordinator = Coordinator.connect(second.getConnectString())) {
                    assertTrue(coordinator.execute(Exists.of(NODE)).isPresent());
                }
            }
        } finally {
            DockerClientFactory.lazyClient().removeVolumeCmd(volume).exec();
            DockerClientFactory.lazyClient().removeVolumeCmd(volume + "-log").exec();
        }
    }

    private static ConclaveContainer onVolume(String volume) throws Exception {
        return TestImage.server().withCreateContainerCmdModifier(create -> create.getHostConfig()
                .withBinds(Bind.parse(volume + ":/data"), Bind.parse(volume + "-log:/datalog")));
    }

    @Test
    void serverKeepsToALimitOfMemory() throws Exception {
        try (ConclaveContainer server = TestImage.server()
                .withCreateContainerCmdModifier(create ->
                        create.getHostConfig().withMemory(MEMORY_BYTES).withMemorySwap(MEMORY_BYTES))) {
            server.start();
            byte[] data = new byte[500_000];
            try (Coordinator coordinator = Coordinator.connect(server.getConnectString())) {
                int refused = 0;
                for (int i = 0; i < 200 && refused == 0; i++) {
                    try {
                        coordinator.execute(Create.of(NodePath.of("/big" + i)).withData(data));
                    } catch (RefusedException full) {
                        refused++;
                    }
                }
                assertEquals(1, refused, "100 MB do not fit, and the server says so");
                assertTrue(coordinator.execute(Exists.of(NodePath.of("/big0"))).isPresent());
            }
            assertTrue(server.isRunning());
            assertFalse(server.getCurrentContainerInfo().getState().getOOMKilled());
        }
    }

    @Test
    void serverThatCannotStartFailsAtOnce() throws Exception {
        StringBuffer log = new StringBuffer();
        try (ConclaveContainer server = TestImage.server()
                .withEnv("ZOO_CFG_EXTRA", "no.such.key=1")
                .withLogConsumer(frame -> log.append(frame.getUtf8String()))) {
            assertThrows(ContainerLaunchException.class, server::start);
            await().until(() -> log.toString().contains("no.such.key is unknown"));
        }
    }

    @Test
    void imageOfAnotherNameHasToBeSaidToBeCompatible() {
        DockerImageName other = DockerImageName.parse("example/coordination:1");
        assertThrows(IllegalStateException.class, () -> new ConclaveContainer(other));
        new ConclaveContainer(other.asCompatibleSubstituteFor("conclave")).close();
    }
}
