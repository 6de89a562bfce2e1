package io.conclave.testcontainers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import java.time.Duration;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Three servers in containers, each of which has its trouble while a client holds a lock. */
class ConclaveClusterIT {
    private static ConclaveCluster cluster;
    private static Coordinator client;

    @BeforeAll
    static void start() throws Exception {
        cluster = new ConclaveCluster(TestImage.name(), 3)
                .withEach(server -> server.withStartupTimeout(TestImage.PATIENCE)
                        .withEnv("JVMFLAGS", TestImage.JVM_FLAGS)
                        .withEnv("ZOO_TICK_TIME", "1000")
                        .withEnv("ZOO_SYNC_LIMIT", "4"));
        cluster.start();
        client = connect();
    }

    private static Coordinator connect() {
        return Coordinator.builder(cluster.getConnectString())
                .sessionTimeout(Duration.ofSeconds(30))
                .followEnsemble(false) // outside of the network, the names of members are unknown
                .connect();
    }

    @AfterAll
    static void stop() {
        if (client != null) {
            client.close();
        }
        if (cluster != null) {
            cluster.stop();
        }
    }

    @Test
    void lockSurvivesADisconnectedNetwork() throws InterruptedException {
        int leader = leader();
        try (LockGrant held = DistributedLock.at(client, "/disconnected").acquire()) {
            cluster.disconnect(leader);
            soon().until(() -> !cluster.isServing(leader));
            write("/written-without-it");
            assertTrue(held.isHeld());
            cluster.reconnect(leader);
            soon().until(() -> cluster.isServing(leader));
        }
        try (Coordinator there = Coordinator.connect(cluster.getServer(leader).getConnectString())) {
            soon().until(() ->
                    there.execute(Exists.of(NodePath.of("/written-without-it"))).isPresent());
        }
    }

    @Test
    void lockSurvivesAPause() throws InterruptedException {
        int leader = leader();
        try (LockGrant held = DistributedLock.at(client, "/paused").acquire()) {
            cluster.pause(leader);
            try {
                write("/written-in-the-pause");
                assertTrue(held.isHeld());
            } finally {
                cluster.resume(leader);
            }
            soon().until(() -> cluster.isServing(leader));
        }
    }

    @Test
    void lockSurvivesAKill() throws InterruptedException {
        int leader = leader();
        try (LockGrant held = DistributedLock.at(client, "/killed").acquire()) {
            cluster.kill(leader);
            write("/written-after-the-kill");
            assertTrue(held.isHeld());
            cluster.restart(leader);
            assertTrue(cluster.isServing(leader));
        }
        try (Coordinator anew = connect()) {
            assertTrue(anew.execute(Exists.of(NodePath.of("/written-after-the-kill")))
                    .isPresent());
        }
    }

    @Test
    void wrongNumberIsRefused() {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> cluster.getServer(4));
        assertEquals("There is no server 4, only 1 to 3", refusal.getMessage());
        assertFalse(cluster.getConnectString().isEmpty());
    }

    /** A write whose reply may be lost with a server. */
    private static void write(String path) throws InterruptedException {
        boolean isWritten = false;
        while (!isWritten) {
            try {
                client.execute(Create.of(NodePath.of(path)));
                isWritten = true;
            } catch (OutcomeUnknownException e) {
                isWritten = client.execute(Exists.of(NodePath.of(path))).isPresent();
            }
        }
    }

    private static ConditionFactory soon() {
        return await().atMost(TestImage.PATIENCE);
    }

    private static int leader() {
        return soon().until(ConclaveClusterIT::leading, leader -> leader > 0);
    }

    private static int leading() throws Exception {
        for (int id = 1; id <= 3; id++) {
            if (cluster.getServer(id)
                    .execInContainer("conclave-health")
                    .getStdout()
                    .startsWith("leader")) {
                return id;
            }
        }
        return 0;
    }
}
