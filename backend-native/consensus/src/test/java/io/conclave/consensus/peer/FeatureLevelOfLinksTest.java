package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A member whose software does not understand what is in force gets no link, in either direction. */
@Timeout(300)
class FeatureLevelOfLinksTest {
    private static final int NEW = 5;
    private static final Duration LONG = Duration.ofSeconds(60);
    private final List<TestPeer> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(TestPeer::close);
    }

    private TestPeer open(int id, int understands, int inForce) {
        PeerFacts facts = new PeerFacts(TestPeer.CLUSTER, id, 1000 + id, understands, "", 0, false);
        TestPeer peer = TestPeer.open(facts, 0, options -> options);
        peer.featureLevel = inForce;
        opened.add(peer);
        return peer;
    }

    private static boolean isLinked(TestPeer peer, int to) {
        return peer.call(() -> peer.network.isLinked(to));
    }

    @Test
    void anEarlierMemberThatCallsIsRefusedWithTheReason() {
        TestPeer present = open(1, NEW, NEW);
        TestPeer earlier = open(2, NEW - 1, 0);
        earlier.dials(1, present);
        await().atMost(LONG).until(() -> present.network.counts().refused() > 1);
        assertFalse(isLinked(earlier, 1));
        assertFalse(present.events().stream().anyMatch(event -> event.toString().contains("arrived")));
    }

    @Test
    void anEarlierMemberThatIsCalledGetsNoLink() {
        TestPeer present = open(1, NEW, NEW);
        TestPeer earlier = open(2, NEW - 1, 0);
        present.dials(2, earlier);
        await().atMost(LONG).until(() -> present.call(() -> present.network.attempts(2)) > 2);
        assertFalse(isLinked(present, 2));
    }

    @Test
    void aLinkEndsWhenALevelComesIntoForceThatTheOtherOneDoesNotUnderstand() {
        TestPeer present = open(1, NEW, NEW - 1);
        TestPeer earlier = open(2, NEW - 1, NEW - 1);
        present.dials(2, earlier);
        earlier.dials(1, present);
        await().atMost(LONG).until(() -> isLinked(present, 2) && isLinked(earlier, 1));
        present.featureLevel = NEW;
        present.tick();
        present.awaitEvent("down 2");
        await().atMost(LONG).until(() -> !isLinked(present, 2) && !isLinked(earlier, 1));
    }

    @Test
    void aMemberThatUnderstandsMoreIsLinked() {
        TestPeer present = open(1, NEW - 1, NEW - 1);
        TestPeer later = open(2, NEW, NEW - 1);
        present.dials(2, later);
        later.dials(1, present);
        await().atMost(LONG).until(() -> isLinked(present, 2) && isLinked(later, 1));
        assertTrue(isLinked(present, 2));
    }
}
