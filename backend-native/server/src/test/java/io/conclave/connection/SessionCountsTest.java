package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.Rejection;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.replica.Step;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.PersistentSet;
import io.conclave.tree.Result;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionCountsTest {
    @Test
    void anotherSecondHasRoomForOtherSessions() {
        ManualTimeSource time = new ManualTimeSource();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults().with(ClientLimit.SESSIONS_PER_SECOND, 3), time);
        SessionCounts counts = new SessionCounts(guard, time);
        for (int second = 0; second < 3; second++) {
            for (int i = 0; i < 3; i++) {
                assertTrue(counts.admits(null, 0, "somebody"));
            }
            assertFalse(counts.admits(null, 0, "somebody"));
            time.advance(Duration.ofSeconds(1));
        }
        assertEquals(3, guard.count(ClientLimit.SESSIONS_PER_SECOND));
    }

    @Test
    void anAddressHasHalfOfASecondAndTheOthersTheRest() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults().with(ClientLimit.SESSIONS_PER_SECOND, 5), time);
        SessionCounts counts = new SessionCounts(guard, time);
        InetAddress stranger = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        InetAddress other = InetAddress.getByAddress(new byte[] {10, 0, 0, 2});
        for (int second = 0; second < 2; second++) {
            assertTrue(counts.admits(stranger, 0, "a stranger"));
            assertTrue(counts.admitsUnknown(stranger, "a stranger"), "counts as an opening does");
            assertTrue(counts.admits(stranger, 0, "a stranger"));
            for (int i = 0; i < 100; i++) {
                assertFalse(counts.admits(stranger, 0, "a stranger"));
                assertFalse(counts.admitsUnknown(stranger, "a stranger"));
            }
            assertTrue(counts.admits(other, 0, "somebody"));
            assertTrue(counts.admits(null, 0, "one of this JVM"));
            assertFalse(counts.admits(null, 0, "one of this JVM"), "the second is full");
            time.advance(Duration.ofSeconds(1));
        }
        assertEquals(2 * 201, guard.count(ClientLimit.SESSIONS_PER_SECOND));
    }

    /** Else they, and their ends a timeout later, are a crowd in the log at the beginning of each second. */
    @Test
    void strangersThatOpenAllTheyCanFindRoomEvenlyAndNotAtTheBeginningOfEachSecond() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        SessionCounts counts = new SessionCounts(new LimitGuard(ClientLimits.defaults(), time), time);
        List<InetAddress> strangers = new ArrayList<>();
        for (int i = 1; i <= 4; i++) {
            strangers.add(InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) i}));
        }
        List<Integer> admitted = new ArrayList<>();
        for (int tick = 0; tick < 300; tick++) {
            int inTick = 0;
            for (int i = 0; i < 400; i++) {
                inTick += counts.admitsUnknown(strangers.get(i % 4), "a stranger") ? 1 : 0;
            }
            admitted.add(inTick);
            time.advance(Duration.ofMillis(10));
        }
        List<Integer> later = admitted.subList(100, 300);
        int evenly = 10 + strangers.size() * SessionCounts.FEW_IN_SECOND;
        assertTrue(later.stream().allMatch(count -> count <= evenly), admitted::toString);
        assertEquals(2_000, later.stream().mapToInt(count -> count).sum(), 20);
    }

    @Test
    void someOfTheSessionsAreKeptForAddressesThatHaveFew() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits = ClientLimits.defaults().with(ClientLimit.SESSIONS, 80);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        InetAddress stranger = InetAddress.getByName("10.0.0.1");
        InetAddress other = InetAddress.getByName("10.0.0.2");
        try (LoneLoop server = new LoneLoop()) {
            for (int i = 1; i <= 15; i++) {
                counts.applied(attached(i, server, "10.0.0.1"));
            }
            assertTrue(counts.admits(stranger, 79, "a stranger"), "it has few");
            counts.applied(attached(16, server, "10.0.0.1"));
        }
        assertTrue(counts.admits(stranger, 69, "a stranger"));
        assertFalse(counts.admits(stranger, 70, "a stranger"), "the last eighth is for others");
        assertTrue(counts.admits(other, 79, "somebody"));
        assertTrue(counts.admits(null, 79, "one of this JVM"));
        assertFalse(counts.admits(other, 80, "somebody"));
    }

    /** Else a slow log lets in as many as come meanwhile. */
    @Test
    void thoseOnTheirWayThroughTheLogCount() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits =
                ClientLimits.defaults().with(ClientLimit.SESSIONS, 4).with(ClientLimit.SESSIONS_OF_ADDRESS, 2);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        InetAddress address = InetAddress.getByName("10.0.0.1");
        counts.opening(1, address);
        counts.opening(2, address);
        assertFalse(counts.admits(address, 0, "a stranger"), "two of this address");
        assertTrue(counts.admits(null, 1, "one of this JVM"));
        assertFalse(counts.admits(null, 2, "one of this JVM"), "four in all");
        counts.notOpened(2);
        assertTrue(counts.admits(address, 2, "a stranger"));
        try (LoneLoop server = new LoneLoop()) {
            counts.applied(attached(1, server, "10.0.0.1"));
            counts.notOpened(1);
            assertTrue(counts.admits(address, 3, "a stranger"), "it counts once, in the state");
            counts.applied(attached(2, server, "10.0.0.1"));
        }
        assertFalse(counts.admits(address, 2, "a stranger"), "two live");
    }

    /** Else each would take a place for good. */
    @Test
    void oneThatTheLogWasNeverGivenCountsNoMore() {
        try (LoneLoop server = new LoneLoop()) {
            long most = server.guard.limits().most(ClientLimit.SESSIONS);
            server.takes = proposal -> false;
            server.loop.connections().serve(ServiceMode.FULL);
            EmbeddedChannel channel = new EmbeddedChannel();
            ByteBuf frame = Unpooled.buffer();
            Frames.write(frame, new ConnectRequest(0, 0, 60_000, 0, new byte[16], false, true));
            ConnectionReader reader = server.reader(channel, 1 << 20, new TestLeases());
            reader.channelRead(null, frame);
            server.finishTask();
            assertFalse(server.sessionCounts.admits(null, most - 1, "somebody"), "it waits for the log");
            reader.connection().close("it does not wait");
            server.time.advance(Duration.ofMillis(20));
            server.finishTask();
            assertTrue(server.sessionCounts.admits(null, most - 1, "somebody"));
        }
    }

    @Test
    void someOfASecondIsKeptForAddressesThatHaveFew() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        LimitGuard guard = new LimitGuard(ClientLimits.defaults().with(ClientLimit.SESSIONS_PER_SECOND, 80), time);
        SessionCounts counts = new SessionCounts(guard, time);
        int strangers = 0;
        for (int i = 1; i <= 2; i++) {
            InetAddress stranger = InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) i});
            while (counts.admitsUnknown(stranger, "a stranger")) {
                strangers++;
            }
        }
        assertEquals(70, strangers);
        InetAddress other = InetAddress.getByName("10.0.0.9");
        for (int i = 0; i < 4; i++) {
            assertTrue(counts.admits(other, 0, "somebody"));
        }
        assertFalse(counts.admits(other, 0, "somebody"));
        for (int i = 0; i < 6; i++) {
            assertTrue(counts.admits(null, 0, "one of this JVM"));
        }
        assertFalse(counts.admits(null, 0, "one of this JVM"), "the second is full");
    }

    @Test
    void nothingIsKeptWhereManyMayShareAnAddress() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits =
                ClientLimits.defaults().with(ClientLimit.SESSIONS, 80).with(ClientLimit.SESSIONS_OF_ADDRESS, 0);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        try (LoneLoop server = new LoneLoop()) {
            for (int i = 1; i <= 79; i++) {
                counts.applied(attached(i, server, "10.0.0.1"));
            }
        }
        assertTrue(counts.admits(InetAddress.getByName("10.0.0.1"), 79, "one of many"));
    }

    @Test
    void theAddressesOfOneNetworkOfIpv6CountAsOne() throws UnknownHostException {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits = ClientLimits.defaults()
                .with(ClientLimit.SESSIONS_PER_SECOND, 6)
                .with(ClientLimit.SESSIONS_OF_ADDRESS, 2);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        for (int i = 1; i <= 3; i++) {
            assertTrue(counts.admits(InetAddress.getByName("2001:db8::" + i), 0, "a stranger"));
        }
        assertFalse(counts.admits(InetAddress.getByName("2001:db8::4"), 0, "a stranger"), "half of a second");
        assertTrue(counts.admits(InetAddress.getByName("2001:db8:0:1::4"), 0, "somebody"));
        time.advance(Duration.ofSeconds(1));
        try (LoneLoop server = new LoneLoop()) {
            for (int i = 1; i <= 2; i++) {
                counts.applied(attached(i, server, "2001:db8::1" + i));
            }
        }
        assertFalse(counts.admits(InetAddress.getByName("2001:db8::5"), 0, "a stranger"), "two live");
        assertTrue(counts.admits(InetAddress.getByName("2001:db8:0:1::5"), 0, "somebody"));
    }

    @Test
    void theLargestBoundIsNone() {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits = ClientLimits.defaults().with(ClientLimit.SESSIONS_PER_SECOND, Long.MAX_VALUE);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        assertTrue(counts.admits(InetAddress.getLoopbackAddress(), 0, "somebody"));
    }

    @Test
    void anAddressThatManyShareHasAllOfASecond() {
        ManualTimeSource time = new ManualTimeSource();
        ClientLimits limits = ClientLimits.defaults()
                .with(ClientLimit.SESSIONS_PER_SECOND, 3)
                .with(ClientLimit.SESSIONS_OF_ADDRESS, 0);
        SessionCounts counts = new SessionCounts(new LimitGuard(limits, time), time);
        InetAddress shared = InetAddress.getLoopbackAddress();
        for (int i = 0; i < 3; i++) {
            assertTrue(counts.admits(shared, 0, "one of many"));
        }
        assertFalse(counts.admits(shared, 0, "one of many"));
    }

    /** A session that a client at an address has opened. */
    private static Step attached(long sessionId, LoneLoop server, String address) {
        EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 1);
            }
        };
        ClientConnection connection =
                server.reader(channel, 1, new TestLeases()).connection();
        SessionPassword password = SessionPassword.of(new byte[SessionPassword.BYTES]);
        ConnectionProposal opening =
                new ConnectionProposal(connection, new Change.OpenSession(sessionId, password, 1000)) {
                    @Override
                    void applied(Applied applied) {}

                    @Override
                    void refused(Rejection reason) {}
                };
        SessionRecord session = new SessionRecord(sessionId, password, 1000, 1, 0, PersistentSet.empty());
        return new Step(
                opening.change(),
                new Applied(TreeState.OF_NO_CLUSTER, 1, new Result.SessionAttached(session), List.of()),
                opening);
    }
}
