package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.Frames;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that do not read their answers, beside others that do. The server has no state here, so no znode. */
@Timeout(300)
class UnreadAnswersTest {
    private static final int PARTS = 5_000;
    private static final RequestBody GET = new RequestBody.GetData("/missing", false);

    private static final TreeEvent EVENT =
            new TreeEvent(TreeEvent.Type.DATA_CHANGED, "/" + "x".repeat(16_000), 1, ZnodeAcl.OPEN);

    private final LoneLoop server = new LoneLoop();
    private final LimitGuard guard = new LimitGuard(
            ClientLimits.defaults()
                    .with(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS, 50_000)
                    .with(ClientLimit.UNREAD_BYTES, 250_000)
                    .with(ClientLimit.UNREAD_BYTES_OF_CONNECTION, 200_000),
            server.time);
    private final UnreadBytes unread = new UnreadBytes(guard, server.time);
    private final List<Peer> peers = new ArrayList<>();

    /** One client. */
    private final class Peer {
        final UnreadChannel channel = new UnreadChannel();
        final ConnectionReader reader = server.reader(channel, new TestLeases(), CommandWords.NONE, unread);
        final ClientConnection connection = reader.connection();

        Peer() {
            peers.add(this);
            LoneLoop.open(connection, peers.size());
        }

        void asks(RequestBody request) {
            ByteBuf frame = Unpooled.buffer();
            Frames.writeRequest(frame, 1, request);
            onLoop(() -> {
                reader.channelRead(null, frame);
                reader.channelReadComplete(null);
            });
            settle();
        }

        /** Bytes. */
        int reads() {
            onLoop(channel::readAll);
            int bytes = 0;
            for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
                bytes += part.readableBytes();
                part.release();
            }
            settle();
            return bytes;
        }
    }

    private static RequestBody multiRead() {
        return new RequestBody.Multi(OpCode.MULTI_READ, Collections.nCopies(PARTS, GET));
    }

    private void onLoop(Runnable task) {
        server.loop.post(task);
        server.finishTask();
    }

    /** Everything is done that time alone does soon. */
    private void settle() {
        for (int i = 0; i < 50; i++) {
            server.time.advance(LongWork.SLICE);
            server.finishTask();
        }
    }

    @Test
    void whatAClientReadsCountsForNothing() {
        Peer client = new Peer();
        client.asks(multiRead());
        assertTrue(guard.unreadBytes() > 50_000);
        assertTrue(client.reads() > 50_000);
        assertEquals(0, guard.unreadBytes());
        client.asks(GET);
        assertTrue(client.reads() > 0);
        assertEquals(0, guard.unreadBytes());
    }

    @Test
    void aLongAnswerWaitsUntilAnotherClientHasReadItsOwn() {
        Peer idle = new Peer();
        Peer client = new Peer();
        idle.asks(multiRead());
        client.asks(multiRead());
        assertEquals(0, client.reads());
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS));
        idle.reads();
        assertTrue(client.reads() > 50_000);
    }

    @Test
    void shortAnswersAndLargeRequestsOfOthersDoNotWaitForALongAnswerThatDoes() {
        new Peer().asks(multiRead());
        Peer waits = new Peer();
        waits.asks(multiRead());
        assertEquals(0, server.largeRequests.inside());
        Peer other = new Peer();
        other.asks(GET);
        assertTrue(other.reads() > 0);
        other.asks(new RequestBody.SetData("/missing", new byte[100_000], -1));
        assertEquals(1, server.proposed.size());
    }

    @Test
    void aLongAnswerWaitsUntilAClientThatDoesNotReadIsCut() {
        Peer idle = new Peer();
        Peer client = new Peer();
        idle.asks(multiRead());
        client.asks(multiRead());
        server.time.advance(UnreadBytes.PATIENCE);
        settle();
        assertTrue(idle.connection.isGone());
        assertFalse(client.connection.isGone());
        assertTrue(client.reads() > 50_000);
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES));
        assertEquals(0, server.largeRequests.inside());
    }

    @Test
    void aConnectionThatEndsWhileItsLongAnswerWaitsLeavesNothing() {
        Peer idle = new Peer();
        Peer first = new Peer();
        Peer second = new Peer();
        idle.asks(multiRead());
        first.asks(multiRead());
        second.asks(multiRead());
        onLoop(() -> {
            first.connection.close("it has gone");
            idle.connection.close("it has gone");
        });
        settle();
        assertTrue(second.reads() > 50_000);
        assertEquals(0, guard.unreadBytes());
        assertEquals(0, server.largeRequests.inside());
    }

    @Test
    void aClientThatDoesNotReadItsEventsIsCut() {
        Peer idle = new Peer();
        for (int i = 0; i < 10; i++) {
            onLoop(() -> idle.connection.tell(EVENT));
        }
        assertFalse(idle.connection.isGone());
        for (int i = 0; i < 10; i++) {
            onLoop(() -> idle.connection.tell(EVENT));
        }
        assertTrue(idle.connection.isGone());
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES_OF_CONNECTION));
        assertEquals(0, guard.unreadBytes());
    }

    @Test
    void ofClientsThatDoNotReadTheirEventsSomeAreCutAndThoseThatReadStay() {
        Peer reads = new Peer();
        Peer one = new Peer();
        Peer two = new Peer();
        for (int i = 0; i < 9; i++) {
            onLoop(() -> peers.forEach(peer -> peer.connection.tell(EVENT)));
            reads.reads();
        }
        assertTrue(one.connection.isGone() != two.connection.isGone());
        assertFalse(reads.connection.isGone());
        assertEquals(1, guard.count(ClientLimit.UNREAD_BYTES));
    }

    @Test
    void eventsThatWaitBehindALongAnswerCount() {
        Peer idle = new Peer();
        idle.connection.holdEvents();
        for (int i = 0; i < 20; i++) {
            onLoop(() -> idle.connection.tell(EVENT));
        }
        assertTrue(idle.connection.isGone());
        assertNull(idle.channel.readOutbound());
    }

    @AfterEach
    void end() {
        for (Peer peer : peers) {
            onLoop(() -> peer.connection.close("the test is over"));
            peer.channel.releaseOutbound();
        }
        assertEquals(0, guard.unreadBytes());
        server.close();
    }
}
