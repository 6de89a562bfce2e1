package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server whose disk is full refuses writes, says so, and does everything else; when there is room, it goes on where
 * it was.
 */
class FullDiskIT {
    private static final NodePath DATA = NodePath.of("/data");
    private static final NodePath EPHEMERAL = NodePath.of("/ephemeral");
    private static final Duration SESSION = Duration.ofSeconds(10);

    @TempDir
    private Path home;

    /** The last write that was acknowledged. */
    private int acknowledged;

    @Test
    void aFullDiskStopsWritesOnlyAndRoomBringsThemBackWithoutALoss() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(home.resolve("disk"), 48);
                ServerProcess server =
                        ServerProcess.in(home, disk.path().resolve("data")).with("tickTime", 500)) {
            server.start();
            try (Coordinator client = Coordinator.builder(server.connectString())
                    .sessionTimeout(SESSION)
                    .connect()) {
                client.execute(Create.of(DATA));
                client.execute(Create.of(EPHEMERAL).withMode(CreateMode.EPHEMERAL));
                long session = RecipeAccess.session(client).id();

                disk.fill();
                RefusedException refusal = assertThrows(RefusedException.class, () -> writeForever(client));
                assertEquals(RefusalReason.NOT_WRITABLE, refusal.reason(), refusal::toString);
                assertTrue(server.log().contains("the disk is full; writes are rejected"), server::log);

                readsAndSessionsGoOn(client, session);

                disk.makeRoom();
                awaitWritable(client);
                assertTrue(server.log().contains("there is room again"), server::log);

                disk.fill();
                assertThrows(RefusedException.class, () -> writeForever(client));
                server.kill();
                server.start(); // also with a full disk
                disk.makeRoom();
                checkSame(client);
                awaitWritable(client);
                assertEquals(session, RecipeAccess.session(client).id());
                assertEquals(
                        session,
                        client.execute(Exists.of(EPHEMERAL)).orElseThrow().ephemeralOwner());
            }
            System.out.println("full disk: " + acknowledged + " acknowledged writes of 50 kB, none lost");
        }
    }

    private void writeForever(Coordinator client) throws InterruptedException {
        while (true) {
            client.execute(SetData.of(DATA, data(acknowledged + 1)));
            acknowledged++;
        }
    }

    /** For longer than a session stays alive without a heartbeat. */
    private void readsAndSessionsGoOn(Coordinator client, long session) {
        Awaitility.await()
                .during(SESSION.plusSeconds(2))
                .atMost(SESSION.multipliedBy(2))
                .pollInterval(Duration.ofMillis(500))
                .until(() -> {
                    assertArrayEquals(
                            data(acknowledged), client.execute(GetData.of(DATA)).data());
                    assertEquals(
                            session,
                            client.execute(Exists.of(EPHEMERAL)).orElseThrow().ephemeralOwner());
                    return client.state() == SessionState.CONNECTED
                            && RecipeAccess.session(client).id() == session;
                });
        assertThrows(RefusedException.class, () -> client.execute(SetData.of(DATA, data(-1))));
    }

    private void awaitWritable(Coordinator client) throws InterruptedException {
        Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
            client.execute(SetData.of(DATA, data(acknowledged + 1)));
            return true;
        });
        acknowledged++;
        checkSame(client);
    }

    private void checkSame(Coordinator client) throws InterruptedException {
        assertArrayEquals(data(acknowledged), client.execute(GetData.of(DATA)).data());
    }

    private static byte[] data(int number) {
        return ByteBuffer.allocate(50_000).putInt(number).array();
    }
}
