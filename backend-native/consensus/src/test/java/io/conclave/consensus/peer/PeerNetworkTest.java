package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.proxy.FreePort;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class PeerNetworkTest {
    private final List<TestPeer> peers = new java.util.concurrent.CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        peers.forEach(TestPeer::close);
    }

    PeerOptions.Builder with(PeerOptions.Builder options) {
        return options;
    }

    private TestPeer open(int id) {
        return kept(TestPeer.open(TestPeer.facts(id), 0, this::with));
    }

    private TestPeer kept(TestPeer peer) {
        peers.add(peer);
        return peer;
    }

    private static PeerMessage message(long number) {
        return new ReadIndexReply(1, number, 0);
    }

    private static List<PeerMessage> messages(long count) {
        return LongStream.range(0, count).mapToObj(PeerNetworkTest::message).toList();
    }

    @Test
    void membersDialEachOtherAndTellTheirFacts() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        Map<Integer, io.conclave.consensus.entry.EnsembleMember> all = Map.of(1, one.member(1), 2, two.member(2));
        one.network.members(all);
        two.network.members(all);
        one.awaitEvent("linked 2");
        one.awaitEvent(TestPeer.facts(2));
        two.awaitEvent("linked 1");
        two.awaitEvent(TestPeer.facts(1));
        assertTrue(one.call(() -> one.network.isLinked(2)));
        assertFalse(one.call(() -> one.network.isLinked(1)), "nobody is linked to himself");
    }

    @Test
    void messagesOfEveryKindArriveAsTheyWere() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        one.dials(2, two);
        one.awaitEvent("linked 2");
        assertTrue(one.send(2, MessageSamples.ALL.toArray(PeerMessage[]::new)));
        two.awaitMessages(MessageSamples.ALL.size());
        assertEquals(
                MessageSamples.ALL.stream().map(MessageSamples::describe).toList(),
                two.messages().stream().map(MessageSamples::describe).toList());
    }

    @Test
    void withoutALinkMessagesAreDropped() {
        TestPeer one = open(1);
        assertFalse(one.send(2, message(1)));
    }

    @Test
    void manySmallMessagesArriveInOrderAndInFewTurns() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        one.dials(2, two);
        one.awaitEvent("linked 2");
        int count = 20_000;
        assertTrue(one.send(2, messages(count).toArray(PeerMessage[]::new)));
        two.awaitMessages(count);
        assertEquals(messages(count), two.messages());
        two.awaitEvent("turn");
        assertTrue(two.count("turn") < count / 50, "turns: " + two.count("turn"));
        await().until(() -> two.events().get(two.events().size() - 1).equals("turn"));
    }

    @Test
    void chunksOfAMegabyteArriveWhole() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        one.dials(2, two);
        one.awaitEvent("linked 2");
        byte[] bytes = new byte[1 << 20];
        new Random(1).nextBytes(bytes);
        for (int i = 0; i < 5; i++) {
            assertTrue(one.send(2, message(i), new SnapshotChunk(1, 1, 1, 5L << 20, (long) i << 20, bytes)));
        }
        two.awaitMessages(10);
        for (int i = 0; i < 5; i++) {
            assertEquals(message(i), two.messages().get(2 * i));
            SnapshotChunk chunk = (SnapshotChunk) two.messages().get(2 * i + 1);
            assertEquals((long) i << 20, chunk.offset());
            assertTrue(Arrays.equals(bytes, chunk.bytes()));
        }
    }

    @Test
    void aMemberThatEndsIsNoticedByBothSidesAtOnceAndDialledAgainWhenItIsBack() {
        int port = FreePort.find();
        TestPeer one = open(1);
        TestPeer two = kept(TestPeer.open(TestPeer.facts(2), port, this::with));
        one.dials(2, two);
        two.dials(1, one);
        one.awaitEvent("linked 2");
        two.awaitEvent("linked 1");
        two.close();
        one.awaitEvent("lost 2");
        one.awaitEvent("down 2");
        assertFalse(one.send(2, message(1)));
        one.forget();
        TestPeer again = kept(TestPeer.open(TestPeer.facts(2), port, this::with));
        again.dials(1, one);
        one.awaitEvent("linked 2");
        assertTrue(one.send(2, message(2)));
        again.awaitEvent(message(2));
    }

    @Test
    void anAddressThatIsTakenIsNamed() {
        TestPeer one = open(1);
        PeerNetwork second =
                PeerNetwork.create(TestPeer.options(one.network.port()).build());
        try {
            LogException e = assertThrows(LogException.class, () -> second.open(TestPeer.facts(2), open(3)));
            assertTrue(e.getMessage().contains("127.0.0.1:" + one.network.port()), e.getMessage());
        } finally {
            second.close();
        }
    }

    @Test
    void aLookUpThatHangsIsNotStartedAgain() {
        Queue<Runnable> lookUps = new ConcurrentLinkedQueue<>();
        TestPeer peer = kept(TestPeer.open(TestPeer.facts(1), 0, options -> with(TestPeer.options(0, lookUps::add))
                .electionTimeoutMs(20)));
        peer.network.members(Map.of(2, new EnsembleMember(2, 0, "a-name-server-hangs.invalid", 1, "", 0, false)));
        await().until(() -> peer.call(() -> peer.network.attempts(2)) >= 5);
        assertEquals(1, lookUps.size());
    }
}
