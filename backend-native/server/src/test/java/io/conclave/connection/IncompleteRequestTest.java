package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.Frames;
import io.conclave.protocol.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that send a part of a long request, beside others. */
@Timeout(300)
class IncompleteRequestTest {
    private static final int LONG = 500_000;

    private final LoneLoop server = new LoneLoop();
    private final List<Peer> peers = new ArrayList<>();

    /** One client, and what of its request is not sent yet. */
    private final class Peer {
        final SlowChannel channel = new SlowChannel();
        final TestLeases leases = new TestLeases();
        final ConnectionReader reader = server.reader(channel, 1 << 30, leases);
        final ClientConnection connection = reader.connection();
        private final ByteBuf unsent = Unpooled.buffer();

        Peer() {
            peers.add(this);
            LoneLoop.open(connection, peers.size());
        }

        void has(int bytesOfData) {
            Frames.writeRequest(unsent, 1, new RequestBody.SetData("/n", new byte[bytesOfData], -1));
        }

        void sends(int bytes) {
            ByteBuf part = unsent.readBytes(bytes);
            onLoop(() -> reader.channelRead(null, part));
        }

        void sendsTheRest() {
            sends(unsent.readableBytes());
        }

        boolean isRead() {
            return channel.config().isAutoRead();
        }
    }

    private Peer withLongRequest() {
        Peer peer = new Peer();
        peer.has(LONG);
        peer.sends(1000);
        return peer;
    }

    private void onLoop(Runnable task) {
        server.loop.post(task);
        server.finishTask();
    }

    private void looks(int count) {
        for (int i = 0; i < count; i++) {
            server.time.advance(ArrivingRequests.BETWEEN_LOOKS);
            server.finishTask();
        }
    }

    private void takeAllRoom() {
        server.arriving.enter(STRANGER, Integer.MAX_VALUE);
    }

    private static final ArrivingRequests.Arrival STRANGER = new ArrivingRequests.Arrival() {
        @Override
        public String network() {
            return "10.0.0.9";
        }

        @Override
        public void admitted() {}

        @Override
        public void lookedAt() {}
    };

    @Test
    void theRestOfALongRequestIsNotReadUntilThereIsRoom() {
        takeAllRoom();
        Peer peer = withLongRequest();
        assertFalse(peer.isRead());
        int touches = peer.leases.touches.get();
        server.time.advanceUntil(ArrivingRequests.BETWEEN_LOOKS, () -> peer.leases.touches.get() > touches);
        assertEquals(1, server.guard.count(ClientLimit.ARRIVING_BYTES));
        server.arriving.leave(STRANGER);
        server.finishTask();
        assertTrue(peer.isRead());
        assertTrue(server.arriving.bytesInside() > LONG);
        peer.sendsTheRest();
        assertEquals(1, server.proposed.size());
        assertEquals(0, server.arriving.bytesInside());
    }

    @Test
    void aShortRequestDoesNotWait() {
        takeAllRoom();
        Peer peer = new Peer();
        peer.has(10_000);
        peer.sends(5_000);
        assertTrue(peer.isRead());
        peer.sendsTheRest();
        assertEquals(1, server.proposed.size());
    }

    @Test
    void aClientThatSendsNoMoreOfItsRequestIsCutWhenOthersWait() {
        int together = (int) (server.guard.limits().most(ClientLimit.ARRIVING_BYTES) / LONG);
        for (int i = 0; i < together + 1; i++) {
            withLongRequest();
        }
        Peer waits = peers.get(together);
        Peer arrives = peers.get(1);
        assertFalse(waits.isRead());
        for (int i = 0; i <= RequestArrival.LOOKS; i++) { // the first does not count
            assertFalse(waits.isRead());
            arrives.sends(RequestArrival.LEAST_BYTES);
            looks(1);
        }
        server.finishTask(); // behind the one that lets it in
        assertTrue(peers.get(0).connection.isGone());
        assertFalse(arrives.connection.isGone());
        assertTrue(waits.isRead());
    }

    @Test
    void aClientMayTakeItsTimeWhileNobodyWaits() {
        Peer peer = withLongRequest();
        looks(100);
        assertFalse(peer.connection.isGone());
        peer.sendsTheRest();
        assertEquals(1, server.proposed.size());
    }

    @Test
    void oneThatIsAllThereAndWaitsForTheServerIsNotCut() {
        long most = server.guard.limits().most(ClientLimit.LARGE_REQUESTS_BYTES);
        server.largeRequests.enter(() -> {}, most);
        Peer there = withLongRequest();
        there.sendsTheRest();
        takeAllRoom();
        looks(10);
        assertFalse(there.connection.isGone());
        assertEquals(0, server.proposed.size());
        server.largeRequests.leave(most);
        server.finishTask();
        assertEquals(1, server.proposed.size());
    }

    /** What is all there waits for its client then, not for the server. */
    @Test
    void aClientThatTakesNoAnswersKeepsNoRoomButOneThatTakesThemSlowlyDoes() {
        long most = server.guard.limits().most(ClientLimit.LARGE_REQUESTS_BYTES);
        server.largeRequests.enter(() -> {}, most);
        Peer takesNone = withLongRequest();
        Peer takesSome = withLongRequest();
        takesNone.sendsTheRest();
        takesSome.sendsTheRest();
        for (Peer peer : List.of(takesNone, takesSome)) {
            peer.channel.waiting = 10 << 20;
            onLoop(() -> peer.reader.channelWritabilityChanged(null));
        }
        server.largeRequests.leave(most);
        takeAllRoom();
        for (int i = 0; i <= RequestArrival.LOOKS; i++) {
            takesSome.channel.waiting -= RequestArrival.LEAST_BYTES;
            looks(1);
        }
        assertTrue(takesNone.connection.isGone());
        assertFalse(takesSome.connection.isGone());
        takesSome.channel.waiting = 0;
        onLoop(() -> takesSome.reader.channelWritabilityChanged(null));
        assertEquals(1, server.proposed.size());
    }

    @Test
    void aConnectionThatEndsLeavesNoneOfTheRoomTaken() {
        Peer inside = withLongRequest();
        takeAllRoom();
        Peer waits = withLongRequest();
        Peer next = withLongRequest();
        onLoop(() -> {
            waits.connection.close("it has gone");
            inside.connection.close("it has gone");
        });
        server.arriving.leave(STRANGER);
        server.finishTask();
        assertTrue(next.isRead());
        next.sendsTheRest();
        assertEquals(0, server.arriving.bytesInside());
    }

    @Test
    void aServerThatStopsDoesNotWaitForTheRest() {
        takeAllRoom();
        Peer waits = withLongRequest();
        onLoop(waits.connection::finish);
        assertFalse(waits.channel.isOpen());
    }

    @AfterEach
    void end() {
        for (Peer peer : peers) {
            onLoop(() -> peer.connection.close("the test is over"));
            peer.channel.releaseOutbound();
        }
        server.arriving.leave(STRANGER);
        assertEquals(0, server.arriving.bytesInside());
        server.close();
    }
}
