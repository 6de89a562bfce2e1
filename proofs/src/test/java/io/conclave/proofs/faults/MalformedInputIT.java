package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that lie, dawdle and flood, against a server process with a small heap; a well-behaved client must not
 * notice. Every attack comes from an address of its own. {@code -Dmalformed.seed} repeats the random bytes of a run.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MalformedInputIT {
    private static final long SEED = Long.getLong("malformed.seed", System.nanoTime());
    private static final int CONNECTIONS_PER_ADDRESS = 60;
    private static final int MEGABYTE = 1_000_000;

    private final Random random = new Random(SEED);
    private ServerProcess server;
    private WellBehavedClient client;
    private long roundsBefore;

    @BeforeAll
    void startServer(@TempDir Path home) throws InterruptedException {
        System.out.println("malformed input: -Dmalformed.seed=" + SEED);
        server = ServerProcess.in(home)
                .with("tickTime", 500)
                .with("maxClientCnxns", CONNECTIONS_PER_ADDRESS)
                .withJvm("-Xmx96m")
                .withJvm("-XX:+ExitOnOutOfMemoryError")
                .start();
        client = new WellBehavedClient(server.connectString());
    }

    @AfterAll
    void stopServer() {
        System.out.println("malformed input: slowest write and read of the well-behaved client " + client.slowestMs()
                + " ms, in " + client.rounds() + " rounds; server's peak of resident memory " + peakMemoryMb() + " MB");
        client.close();
        server.close();
    }

    @BeforeEach
    void remember() {
        roundsBefore = client.rounds();
    }

    @AfterEach
    void theServerAndItsOtherClientsGoOn() {
        Awaitility.await("the well-behaved client goes on")
                .atMost(Duration.ofSeconds(10))
                .until(() -> client.rounds() > roundsBefore + 10);
        assertEquals(List.of(), client.troubles(), server::log);
        assertTrue(server.isAlive(), server::log);
        assertFalse(server.log().contains("Java heap space"), server::log);
        assertTrue(peakMemoryMb() < 400, () -> "the server has used " + peakMemoryMb() + " MB");
    }

    private long peakMemoryMb() {
        try {
            return Files.readAllLines(Path.of("/proc/" + server.pid() + "/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0; // not on Linux
        }
    }

    @Test
    void wordsAndRandomBytesInPlaceOfAHandshakeCloseTheConnection() throws IOException {
        for (String word : List.of("ruok", "stat", "xxxx", "GET / HTTP/1.1\r\n\r\n", "\0\0\0\0", "QUIT")) {
            try (RawSocket socket = new RawSocket(server.port(), 2)) {
                socket.send(word.getBytes(StandardCharsets.US_ASCII));
                socket.awaitClosed();
            }
        }
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(2000)];
            random.nextBytes(bytes);
            try (RawSocket socket = new RawSocket(server.port(), 2)) {
                socket.send(bytes);
            }
        }
    }

    @Test
    void aLengthThatIsNegativeOrTooLargeClosesTheConnectionAtOnce() throws IOException {
        for (int length : new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 0x100000, 1 << 30}) {
            byte[] prefix = ByteBuffer.allocate(4).putInt(length).array();
            try (RawSocket stranger = new RawSocket(server.port(), 3)) {
                stranger.send(prefix);
                stranger.awaitClosed();
            }
            try (RawSocket guest = new RawSocket(server.port(), 3)) {
                guest.hello(5000);
                guest.send(prefix);
                guest.awaitClosed();
            }
        }
    }

    @Test
    void aHandshakeThatIsCutAnywhereDoesNotAffectOthers() throws IOException {
        byte[] whole = RawSocket.handshake(5000, 0, new byte[16]);
        for (int length = 0; length <= whole.length; length++) {
            try (RawSocket socket = new RawSocket(server.port(), 4)) {
                socket.send(Arrays.copyOf(whole, length));
            }
        }
    }

    @Test
    void framesWithFlippedBytesEndInAnErrorOrAClosedConnection() throws IOException {
        for (int i = 0; i < 50; i++) {
            try (RawSocket socket = new RawSocket(server.port(), 5)) {
                socket.hello(5000);
                boolean open = true;
                for (int xid = 1; open && xid < 20; xid++) {
                    open = socket.send(mutated(anyRequest(xid)));
                }
            }
        }
    }

    private byte[] anyRequest(int xid) {
        return switch (random.nextInt(3)) {
            case 0 -> RawSocket.create(xid, "/malformed-" + random.nextInt(50), new byte[random.nextInt(100)]);
            case 1 -> RawSocket.setData(xid, "/malformed-" + random.nextInt(50), new byte[random.nextInt(100)]);
            default -> RawSocket.getData(xid, "/well-behaved");
        };
    }

    /**
     * Flips a byte or two; not in the length, for then nothing more would be read, and not in the path of the other
     * client's znode.
     */
    private byte[] mutated(byte[] frame) {
        for (int i = 0; i <= random.nextInt(2); i++) {
            frame[4 + random.nextInt(Math.min(frame.length - 4, 16))] = (byte) random.nextInt();
        }
        return frame;
    }

    @Test
    void aWrongPasswordGetsNoSessionAndLeavesItsOwnerAlone() throws IOException {
        long session = RecipeAccess.session(client.coordinator()).id();
        for (byte[] password : List.of(new byte[16], new byte[0], new byte[1000])) {
            try (RawSocket thief = new RawSocket(server.port(), 6)) {
                RawSocket.Welcome answer = thief.hello(5000, session, password);
                assertEquals(0, answer.sessionId());
                assertEquals(0, answer.timeoutMs());
                thief.awaitClosed();
            }
        }
        assertEquals(session, RecipeAccess.session(client.coordinator()).id());
    }

    @Test
    void theRightPasswordResumesASession() throws IOException {
        try (RawSocket first = new RawSocket(server.port(), 6);
                RawSocket second = new RawSocket(server.port(), 6)) {
            RawSocket.Welcome opened = first.hello(5000);
            assertNotEquals(0, opened.sessionId());
            RawSocket.Welcome resumed = second.hello(5000, opened.sessionId(), opened.password());
            assertEquals(opened.sessionId(), resumed.sessionId());
            assertArrayEquals(opened.password(), resumed.password());
            first.awaitClosed();
        }
    }

    @Test
    void aClientThatStallsIsDisconnected() throws IOException {
        List<RawSocket> dawdlers = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS_PER_ADDRESS - 1; i++) {
                RawSocket socket = new RawSocket(server.port(), 7);
                dawdlers.add(socket);
                if (i % 2 == 0) {
                    socket.send(new byte[] {0, 0, 0}); // never ends its handshake
                } else {
                    socket.hello(1000);
                    socket.send(
                            Arrays.copyOf(RawSocket.getData(1, "/well-behaved"), 12)); // never ends its first request
                }
            }
            for (RawSocket socket : dawdlers) {
                socket.awaitClosed();
            }
        } finally {
            closeAll(dawdlers);
        }
    }

    @Test
    void aFloodFromOneAddressIsHeldAtItsLimitAndOthersStillGetIn() throws Exception {
        List<RawSocket> flood = new ArrayList<>();
        try {
            int open = 0;
            for (int i = 0; i < 300; i++) {
                flood.add(new RawSocket(server.port(), 8));
            }
            for (RawSocket socket : flood) {
                open += socket.isClosedWithin(20) ? 0 : 1;
            }
            assertTrue(open <= CONNECTIONS_PER_ADDRESS, open + " connections are open");
            try (Coordinator other = Coordinator.connect(server.connectString())) {
                assertTrue(
                        other.execute(GetData.of(NodePath.of("/well-behaved"))).data().length > 0);
            }
        } finally {
            closeAll(flood);
        }
    }

    @Test
    void dataOverAMegabyteIsRefusedByNameAndAMegabyteIsNot() throws Exception {
        NodePath path = NodePath.of("/large");
        client.coordinator().execute(Create.of(path).withData(new byte[MEGABYTE]));
        assertEquals(MEGABYTE, client.coordinator().execute(GetData.of(path)).data().length);
        client.coordinator().execute(Delete.of(path));
        RefusedException refusal = assertThrows(RefusedException.class, () -> client.coordinator()
                .execute(Create.of(path).withData(new byte[MEGABYTE + 100_000])));
        assertTrue(
                refusal.reason() == RefusalReason.BAD_ARGUMENTS || refusal.reason() == RefusalReason.LIMIT_EXCEEDED,
                refusal::toString);
        assertTrue(refusal.getMessage().contains("/large"), refusal.getMessage());
    }

    @Test
    void aClientThatReadsNothingFillsItsOwnSocketOnly() throws Exception {
        NodePath path = NodePath.of("/popular");
        client.coordinator().execute(Create.of(path).withData(new byte[MEGABYTE]));
        List<RawSocket> greedy = new ArrayList<>();
        try {
            for (int i = 0; i < 30; i++) {
                RawSocket socket = new RawSocket(server.port(), 9);
                greedy.add(socket);
                socket.hello(2000);
                for (int xid = 1; xid <= 300; xid++) {
                    socket.send(RawSocket.getData(xid, path.toString()));
                }
            }
            Awaitility.await().until(() -> client.rounds() > roundsBefore + 100);
        } finally {
            closeAll(greedy);
            client.coordinator().execute(Delete.of(path));
        }
    }

    @Test
    void aClientThatWritesMegabytesWithoutWaitingIsSlowedDown() throws Exception {
        NodePath path = NodePath.of("/heavy");
        client.coordinator().execute(Create.of(path));
        List<RawSocket> writers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                RawSocket socket = new RawSocket(server.port(), 10);
                writers.add(socket);
                socket.hello(10_000);
                threads.add(new Thread(() -> sendMegabytes(socket, path.toString(), 50)));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            closeAll(writers);
        }
        client.coordinator().execute(Delete.of(path));
    }

    private static void sendMegabytes(RawSocket socket, String path, int count) {
        try {
            for (int xid = 1; xid <= count; xid++) {
                socket.send(RawSocket.setData(xid, path, new byte[MEGABYTE]));
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** They may be cut where the memory for buffers ends; no other connection is. */
    @Test
    void almostCompleteFramesOfAMegabyteOnManyConnectionsDoNotStopTheServer() throws Exception {
        List<RawSocket> hoarders = new ArrayList<>();
        byte[] almost = Arrays.copyOf(RawSocket.setData(1, "/none", new byte[MEGABYTE]), MEGABYTE);
        try {
            for (int i = 0; i < 2 * CONNECTIONS_PER_ADDRESS - 4; i++) {
                RawSocket socket = new RawSocket(server.port(), 11 + i % 2);
                hoarders.add(socket);
                socket.hello(1000);
                socket.send(almost);
            }
            Awaitility.await().until(() -> client.rounds() > roundsBefore + 100);
        } finally {
            closeAll(hoarders);
        }
    }

    private static void closeAll(List<RawSocket> sockets) throws IOException {
        for (RawSocket socket : sockets) {
            socket.close();
        }
    }
}
