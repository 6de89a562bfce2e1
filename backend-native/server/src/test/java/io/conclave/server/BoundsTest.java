package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What malicious, broken and greedy clients can do: lose their own connection. */
class BoundsTest {
    private static void assertServes(ConclaveServer server) throws IOException {
        try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(0, client.call(Requests.exists("/")).header().err());
        }
    }

    @Test
    void garbageClosesTheConnectionAndTheServerGoesOn() throws IOException {
        List<byte[]> openings = new ArrayList<>(List.of(
                new byte[] {0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff},
                new byte[] {(byte) 0x80, 0, 0, 0},
                new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff},
                "GET / HTTP/1.1\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                "ruok".getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                new byte[] {0, 0, 0, 0},
                new byte[] {0, 0, 0, 4, 1, 2, 3, 4}));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[4 + random.nextInt(300)];
            random.nextBytes(bytes);
            bytes[0] = (byte) (bytes[0] | 0x40);
            openings.add(bytes);
        }
        try (ConclaveServer server =
                TestServer.start(TestServer.config().maxConnectionsPerAddress(0).build())) {
            for (byte[] opening : openings) {
                try (RawClient client = new RawClient(TestServer.port(server))) {
                    client.write(Unpooled.wrappedBuffer(opening));
                    assertTrue(client.isClosedByServer(), "seed " + seed + ": " + Arrays.toString(opening));
                }
            }
            assertServes(server);
        }
    }

    @Test
    void randomFramesInsideASessionDoNotAffectOthers() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (ConclaveServer server =
                TestServer.start(TestServer.config().maxConnectionsPerAddress(0).build())) {
            for (int i = 0; i < 300; i++) {
                try (RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
                    byte[] body = new byte[random.nextInt(200)];
                    random.nextBytes(body);
                    ByteBuf out = Unpooled.buffer();
                    out.writeInt(8 + body.length).writeInt(i).writeInt(random.nextInt(130) - 15);
                    out.writeBytes(body);
                    client.write(out);
                    client.socket().shutdownOutput();
                    assertTrue(client.isClosedByServer(), "seed " + seed);
                }
            }
            assertServes(server);
        }
    }

    @Test
    void aFrameAboveTheLimitClosesAndOneBelowItIsTaken() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/n"));
            assertEquals(
                    0,
                    client.call(new RequestBody.SetData("/n", new byte[0xfffff - 100], -1))
                            .header()
                            .err());
            client.send(new RequestBody.SetData("/n", new byte[0xfffff], -1));
            assertTrue(client.isClosedByServer());
            assertServes(server);
        } catch (java.net.SocketException e) {
            assertTrue(e.getMessage().contains("reset") || e.getMessage().contains("pipe"), e.toString());
        }
    }

    @Test
    void aHandshakeThatNeverComesIsCutAtItsDeadline() throws IOException {
        try (ConclaveServer server = TestServer.start(
                        TestServer.config().handshakeTimeoutMs(200).build());
                RawClient silent = new RawClient(TestServer.port(server));
                RawClient dripping = new RawClient(TestServer.port(server))) {
            dripping.write(Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 45, 0}));
            assertTrue(silent.isClosedByServer());
            assertTrue(dripping.isClosedByServer());
            assertServes(server);
        }
    }

    @Test
    void aFrameThatComesByteByByteIsUnderstood() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            ByteBuf out = Unpooled.buffer();
            io.conclave.protocol.Frames.writeRequest(out, 7, Requests.create("/slow"));
            while (out.isReadable()) {
                client.write(out.readSlice(1));
            }
            assertEquals(7, client.readHeader().xid());
        }
    }

    @Test
    void oneAddressHasABoundedNumberOfConnectionsAndLeavingMakesRoom() throws IOException {
        try (ConclaveServer server =
                TestServer.start(TestServer.config().maxConnectionsPerAddress(2).build())) {
            RawClient first = RawClient.attached(TestServer.port(server), 60_000);
            try (RawClient second = RawClient.attached(TestServer.port(server), 60_000);
                    RawClient third = new RawClient(TestServer.port(server))) {
                assertTrue(third.isClosedByServer());
                first.close();
                await().until(() -> server.connectionCount() == 1);
                assertServes(server);
                assertEquals(0, second.call(Requests.exists("/")).header().err());
            }
        }
    }

    @Test
    void connectionsAreBoundedInAll() throws IOException {
        try (ConclaveServer server =
                        TestServer.start(TestServer.config().maxConnections(1).build());
                RawClient first = RawClient.attached(TestServer.port(server), 60_000);
                RawClient second = new RawClient(TestServer.port(server))) {
            assertTrue(second.isClosedByServer());
            assertEquals(0, first.call(Requests.exists("/")).header().err());
        }
    }

    /** The server stops reading from a client that does not read, so neither its memory nor others suffer. */
    @Test
    void aClientThatAsksAndDoesNotReadIsHeldUpAlone() throws Exception {
        try (ConclaveServer server = TestServer.start();
                RawClient greedy = RawClient.attached(TestServer.port(server), 30_000)) {
            greedy.call(Requests.create("/big"));
            greedy.call(new RequestBody.SetData("/big", new byte[500_000], -1));
            int count = 400;
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try {
                    RequestBody[] gets = new RequestBody[count];
                    Arrays.fill(gets, Requests.get("/big"));
                    greedy.send(gets);
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            for (int i = 0; i < 20; i++) {
                assertServes(server);
            }
            sending.join();
            for (int i = 0; i < count; i++) {
                assertEquals(500_000, ((ReplyBody.GetData) greedy.read().body().orElseThrow()).data().length);
            }
        }
    }

    @Test
    void aClientThatDoesNotReadItsEventsIsCut() throws Exception {
        try (ConclaveServer server = TestServer.start(TestServer.config()
                        .clientLimit(ClientLimit.PATH_BYTES, 0)
                        .build());
                RawClient deaf = RawClient.attached(TestServer.port(server), 60_000);
                RawClient loud = RawClient.attached(TestServer.port(server), 60_000)) {
            String path = "/" + "x".repeat(100_000);
            loud.call(Requests.create(path));
            deaf.call(new io.conclave.protocol.WatchRequest.AddWatch(path, 0));
            for (int i = 0; i < 1500 && server.connectionCount() == 2; i++) {
                loud.call(Requests.set(path, "x"));
            }
            await().until(() -> server.connectionCount() == 1);
            assertServes(server);
        }
    }

    @Test
    void floodedWithRequestsTheServerAnswersAllInOrder() throws Exception {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 30_000)) {
            client.call(Requests.create("/n"));
            int count = 50_000;
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < count; i += 1000) {
                        RequestBody[] some = new RequestBody[1000];
                        Arrays.setAll(some, n -> n % 2 == 0 ? Requests.set("/n", "x") : Requests.get("/n"));
                        client.send(some);
                    }
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            for (int i = 0; i < count; i++) {
                assertEquals(2 + i, client.readHeader().xid());
            }
            sending.join();
        }
    }
}
