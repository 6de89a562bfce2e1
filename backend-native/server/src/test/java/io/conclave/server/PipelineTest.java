package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.protocol.EventType;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PipelineTest {
    private ConclaveServer server;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start();
        client = RawClient.attached(TestServer.port(server), 60_000);
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    @Test
    void aClientConnectsWritesReadsWatchesPingsAndLeaves() throws IOException {
        assertEquals(
                "/a", client.call(Requests.create("/a"), ReplyBody.Create.class).path());
        assertArrayEquals(
                Requests.bytes("data"),
                client.call(Requests.getAndWatch("/a"), ReplyBody.GetData.class).data());
        client.send(Requests.set("/a", "new"));
        assertEquals(
                EventType.NODE_DATA_CHANGED.code(),
                client.read().event().orElseThrow().type());
        assertEquals(0, client.read().header().err());
        assertEquals(-2, client.call(Requests.ping()).header().xid());
        assertEquals(0, client.call(Requests.closeSession()).header().err());
        assertTrue(client.isClosedByServer());
    }

    /** Everything goes out in one write, so that many of the sets share a batch of the log. */
    @Test
    void aReadBehindAWriteSeesExactlyThatWriteEvenIfLaterOnesShareItsBatch() throws IOException {
        client.call(Requests.create("/n"));
        List<RequestBody> requests = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            requests.add(Requests.set("/n", "value " + i));
            requests.add(Requests.get("/n"));
        }
        client.send(requests.toArray(RequestBody[]::new));
        for (int i = 0; i < 400; i++) {
            RawClient.Message set = client.read();
            ReplyBody.Stat stat = (ReplyBody.Stat) set.body().orElseThrow();
            assertEquals(set.header().zxid(), stat.stat().mzxid());
            RawClient.Message get = client.read();
            ReplyBody.GetData data = (ReplyBody.GetData) get.body().orElseThrow();
            assertEquals("value " + i, new String(data.data(), StandardCharsets.UTF_8));
            assertEquals(set.header().zxid(), get.header().zxid(), "the read is answered from the write's own state");
        }
    }

    @Test
    void repliesKeepTheOrderOfRequestsOfAllKinds() throws IOException {
        client.call(Requests.create("/n"));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<RequestBody> requests = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            requests.add(
                    switch (random.nextInt(6)) {
                        case 0 -> Requests.set("/n", "x");
                        case 1 -> new RequestBody.Sync("/n");
                        case 2 -> Requests.create("/n");
                        case 3 -> Requests.set("/missing", "x");
                        default -> Requests.get("/n");
                    });
        }
        client.send(requests.toArray(RequestBody[]::new));
        long zxid = 0;
        for (int i = 0; i < requests.size(); i++) {
            RawClient.Message reply = client.read();
            assertEquals(2 + i, reply.header().xid(), "seed " + seed);
            assertTrue(reply.header().zxid() >= zxid, "zxids do not decrease, seed " + seed);
            zxid = reply.header().zxid();
        }
    }

    @Test
    void aWatchEventComesBeforeTheReplyOfItsChangeAndBeforeReadsThatShowIt() throws IOException {
        client.call(Requests.create("/n"));
        client.send(
                Requests.getAndWatch("/n"),
                Requests.set("/n", "1"),
                Requests.getAndWatch("/n"),
                Requests.set("/n", "2"),
                Requests.get("/n"));
        assertFalse(client.read().isEvent(), "first get");
        assertTrue(client.read().isEvent(), "event of the first set");
        assertFalse(client.read().isEvent(), "reply of the first set");
        assertFalse(client.read().isEvent(), "second get");
        RawClient.Message event = client.read();
        assertTrue(event.isEvent(), "event of the second set");
        RawClient.Message set = client.read();
        assertEquals(event.header().zxid(), set.header().zxid());
        assertFalse(client.read().isEvent());
    }

    /** Another client's changes: no read may show one whose event is still to come. */
    @Test
    void noReadOvertakesTheEventOfAnotherClientsWrite() throws Exception {
        client.call(Requests.create("/n"));
        try (RawClient writer = RawClient.attached(TestServer.port(server), 60_000)) {
            Thread writing = new Thread(() -> {
                try {
                    for (int i = 0; i < 500; i++) {
                        writer.call(Requests.set("/n", "value " + i));
                    }
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            writing.start();
            int watchedVersion = -1;
            boolean watching = false;
            while (writing.isAlive()) {
                client.send(watching ? Requests.get("/n") : Requests.getAndWatch("/n"));
                RawClient.Message message = client.read();
                if (message.isEvent()) {
                    watching = false;
                    message = client.read();
                    // the reply belongs to a request sent before the event was seen
                    continue;
                }
                int version = ((ReplyBody.GetData) message.body().orElseThrow())
                        .stat()
                        .version();
                if (watching) {
                    assertEquals(watchedVersion, version, "a newer version was shown before the watch's event");
                }
                watching = true;
                watchedVersion = version;
            }
            writing.join();
        }
    }

    @Test
    void syncAnswersItsPathAfterEverythingBeforeIt() throws IOException {
        client.send(Requests.create("/s"), new RequestBody.Sync("/s"), Requests.get("/s"));
        client.read();
        assertEquals("/s", ((ReplyBody.Sync) client.read().body().orElseThrow()).path());
        assertEquals(0, client.read().header().err());
    }

    @Test
    void anUnknownOperationIsAnsweredInItsTurnAndEndsTheConnection() throws IOException {
        io.netty.buffer.ByteBuf out = io.netty.buffer.Unpooled.buffer();
        out.writeInt(8).writeInt(99).writeInt(4711);
        client.send(Requests.create("/u"));
        client.write(out);
        assertEquals(0, client.read().header().err());
        out = io.netty.buffer.Unpooled.buffer();
        assertEquals(-6, client.readHeader().err());
        assertTrue(client.isClosedByServer());
    }

    @Test
    void aCheckOutsideOfAMultiIsNoOperation() throws IOException {
        client.send(new io.conclave.protocol.RequestBody.CheckVersion("/", 0));
        assertEquals(-6, client.read().header().err());
        assertTrue(client.isClosedByServer());
    }

    @Test
    void aRequestThatCannotBeDecodedIsRefusedAndTheConnectionGoesOn() throws IOException {
        io.netty.buffer.ByteBuf out = io.netty.buffer.Unpooled.buffer();
        out.writeInt(12).writeInt(99).writeInt(OpCode.GET_DATA.code()).writeInt(1000);
        client.write(out);
        assertEquals(-5, client.readHeader().err());
        assertEquals(0, client.call(Requests.exists("/")).header().err());
    }

    @Test
    void reconfigurationIsRefusedToWhoeverIsNotSuper() throws IOException {
        io.netty.buffer.ByteBuf out = io.netty.buffer.Unpooled.buffer();
        out.writeInt(8 + 12 + 8).writeInt(5).writeInt(OpCode.RECONFIG.code());
        out.writeInt(-1).writeInt(-1).writeInt(-1).writeLong(-1);
        client.write(out);
        assertEquals(-102, client.readHeader().err());
        assertEquals(0, client.call(Requests.exists("/")).header().err());
    }

    /** A full queue of the log holds the connection up; nothing fails, is lost or overtaken. */
    @Test
    void whileTheLogTakesNothingRequestsWaitInOrder() throws IOException {
        long seed = System.nanoTime();
        try (ConclaveServer stalling = ConclaveServer.start(
                        TestServer.config().build(),
                        (options, loop) -> new StallingLog(EnsembleLog.inMemory(options), seed),
                        TimeSource.system(),
                        cause -> {});
                RawClient one = RawClient.attached(TestServer.port(stalling), 30_000);
                RawClient two = RawClient.attached(TestServer.port(stalling), 30_000)) {
            for (RawClient writer : List.of(one, two)) {
                List<RequestBody> requests = new ArrayList<>();
                requests.add(Requests.create("/n"));
                for (int i = 0; i < 100; i++) {
                    requests.add(Requests.set("/n", "value " + i));
                    requests.add(new RequestBody.Sync("/n"));
                    requests.add(Requests.get("/n"));
                }
                requests.add(Requests.closeSession());
                writer.send(requests.toArray(RequestBody[]::new));
            }
            for (RawClient writer : List.of(one, two)) {
                for (int xid = 1; xid <= 302; xid++) {
                    assertEquals(xid, writer.read().header().xid(), "seed " + seed);
                }
                assertTrue(writer.isClosedByServer());
            }
            assertEquals(200, stalling.state().znode("/n").orElseThrow().version(), "seed " + seed);
        }
    }

    /**
     * Random requests of one connection against a model: every read sees its own writes up to itself and no later one.
     */
    @Test
    void aReadNeverSeesALaterWriteOfItsOwnConnection() throws IOException {
        client.call(Requests.create("/n"));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<RequestBody> requests = new ArrayList<>();
        List<Integer> versions = new ArrayList<>();
        int version = 0;
        for (int i = 0; i < 3000; i++) {
            switch (random.nextInt(3)) {
                case 0 -> {
                    requests.add(Requests.set("/n", "x"));
                    version++;
                    versions.add(version);
                }
                case 1 -> {
                    requests.add(new RequestBody.Sync("/n"));
                    versions.add(-1);
                }
                default -> {
                    requests.add(Requests.getAndWatch("/n"));
                    versions.add(version);
                }
            }
        }
        client.send(requests.toArray(RequestBody[]::new));
        boolean watching = false;
        for (int i = 0; i < requests.size(); i++) {
            RawClient.Message message = client.read();
            if (message.isEvent()) {
                assertTrue(watching, "an event without a watch, seed " + seed);
                watching = false;
                message = client.read();
                assertEquals(
                        versions.get(i),
                        ((ReplyBody.Stat) message.body().orElseThrow()).stat().version());
            } else if (message.body().orElseThrow() instanceof ReplyBody.GetData data) {
                assertEquals(versions.get(i), data.stat().version(), "request " + i + ", seed " + seed);
                watching = true;
            } else if (message.body().orElseThrow() instanceof ReplyBody.Stat stat) {
                assertEquals(versions.get(i), stat.stat().version(), "request " + i + ", seed " + seed);
                assertFalse(watching, "a watch was missed at request " + i + ", seed " + seed);
            }
        }
    }
}
