package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.conclave.connection.ClientLimit;
import io.conclave.coordinator.Coordinator;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.StatRecord;
import io.conclave.protocol.WireRecord;
import io.conclave.protocol.Xid;
import io.conclave.server.AdminSecret;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import io.conclave.tree.SnapshotCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdminClientTest {
    private static final WireRecord NOTHING = ReplyBody.Empty.INSTANCE;

    @TempDir
    private Path directory;

    /** Answers one request after the other with these, then ends the connection. */
    private static void serve(ServerSocket port, List<ByteBuf> answers) {
        try (Socket client = port.accept()) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            for (ByteBuf answer : answers) {
                in.readFully(new byte[in.readInt()]);
                answer.readBytes(client.getOutputStream(), answer.readableBytes());
            }
            in.readFully(new byte[in.readInt()]);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Answers one request after the other with these, and ends the connection. */
    private static void serveAndGo(ServerSocket port, List<ByteBuf> answers) {
        try (Socket client = port.accept()) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            for (ByteBuf answer : answers) {
                in.readFully(new byte[in.readInt()]);
                answer.readBytes(client.getOutputStream(), answer.readableBytes());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ByteBuf frame(WireRecord first, WireRecord second) {
        ByteBuf out = Unpooled.buffer();
        Frames.write(out, first, second);
        return out;
    }

    private static InetSocketAddress addressOf(ServerSocket port) {
        return new InetSocketAddress(port.getInetAddress(), port.getLocalPort());
    }

    @Test
    void whyAServerMayTakeNoSessionIsSaid() throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> serve(port, List.of()));

            IOException refusal = assertThrows(IOException.class, () -> new AdminClient(addressOf(port), "secret"));

            assertTrue(refusal.getMessage().contains("It has no leader"), refusal::getMessage);
            assertTrue(refusal.getMessage().contains("its disk is full"), refusal::getMessage);
            assertTrue(refusal.getMessage().contains("maxClientCnxns"), refusal::getMessage);
            server.get();
        }
    }

    @Test
    void anOperatorHasASessionAlsoWhenStrangersHaveAllThereAre() throws IOException {
        ServerConfig config = ServerConfig.builder()
                .clientPort(0)
                .clientPortAddress("localhost")
                .dataDirectory(Optional.of(directory.resolve("log")))
                .homeDirectory(Optional.of(directory))
                .segmentBytes(8 << 20)
                .clientLimit(ClientLimit.SESSIONS, 1)
                .clientLimit(ClientLimit.SESSIONS_PER_SECOND, 1)
                .build();
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), cause -> {})) {
            InetSocketAddress address =
                    new InetSocketAddress("localhost", server.clientPort().orElseThrow());
            Coordinator stranger = Coordinator.connect("conclave://localhost:" + address.getPort());
            try (stranger) {
                assertThrows(IOException.class, () -> new AdminClient(address, "guess"));
                try (AdminClient client = new AdminClient(address, AdminSecret.read(directory))) {
                    client.sync();
                }
            }
        }
    }

    @Test
    void aServerThatEndsBehindItsAnswerIsNoFailure() throws Exception {
        ReplyBody members = new ReplyBody.GetData(
                "server.1=h:1".getBytes(StandardCharsets.UTF_8), new StatRecord(0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0));
        List<ByteBuf> answers = List.of(
                frame(new ConnectResponse(0, 30_000, 1, new byte[16], false, true), NOTHING),
                frame(new ReplyHeader(Xid.AUTH, 0, ErrorCode.OK.code()), NOTHING),
                frame(new ReplyHeader(1, 0, ErrorCode.OK.code()), members));
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> serve(port, answers));

            try (AdminClient client = new AdminClient(addressOf(port), "secret")) {
                assertEquals("server.1=h:1", client.members());
            }

            server.get();
        }
    }

    @Test
    void anAnswerThatIsTooLongIsRefusedWithItsBound() throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(
                    () -> serveAndGo(port, List.of(Unpooled.buffer().writeInt(Integer.MAX_VALUE))));

            IOException refusal = assertThrows(IOException.class, () -> new AdminClient(addressOf(port), "secret"));

            assertEquals(
                    "the server announced an answer of 2147483647 bytes, and 4194300 are the most:"
                            + " what listens there is no server of this version",
                    refusal.getMessage());
            server.get();
        }
    }

    /** A piece of a backup may have 256 MB; a server that announces them must send them. */
    @Test
    void anAnswerTakesNoMemoryBeforeItComes() throws Exception {
        List<ByteBuf> answers = List.of(
                frame(new ConnectResponse(0, 30_000, 1, new byte[16], false, true), NOTHING),
                frame(new ReplyHeader(Xid.AUTH, 0, ErrorCode.OK.code()), NOTHING),
                Unpooled.buffer().writeInt(SnapshotCodec.MAX_CHUNK_BYTES).writeZero(1_000));
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> serveAndGo(port, answers));

            try (AdminClient client = new AdminClient(addressOf(port), "secret")) {
                long before = allocatedBytes();
                assertThrows(IOException.class, client::backupPiece);
                assertTrue(allocatedBytes() - before < SnapshotCodec.MAX_CHUNK_BYTES / 16);
            }
            server.get();
        }
    }

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
