package io.conclave.consensus.core;

import static io.conclave.consensus.core.QuietCluster.configuration;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What cannot be in correct Raft, with disks that keep what was synced: it is noticed, and stops the member that is
 * wrong.
 */
class ImpossibleStatesTest {
    private static final ClusterConfiguration THREE = configuration(Set.of(1, 2, 3), Set.of(1, 2, 3));
    private static final ClusterConfiguration ALONE = configuration(Set.of(1), Set.of(1));

    /** Members 2 and 3 serve; 1 is down. */
    private static QuietCluster twoOfThree() {
        QuietCluster cluster = new QuietCluster(1, 2, 3);
        cluster.start(2, 5, THREE, false);
        cluster.start(3, 5, THREE, false);
        cluster.linkAll();
        cluster.pass(4_000);
        cluster.propose(1_000);
        cluster.pass(500);
        assertEquals(1_001, cluster.process(2).core.status().commitIndex());
        return cluster;
    }

    /**
     * Member 1 has the disk of its bootstrap, on which it is the only voter; it is linked first to those that it wants
     * as followers.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 10, 100, 1_000})
    void theOnlyVoterOfAnOldDiskStopsWhenFollowersContradictIt(int leaderLinkedLaterMs) {
        QuietCluster cluster = twoOfThree();
        int leader = cluster.leader();
        int follower = 5 - leader;
        QuietCluster.Process old = cluster.start(1, 1, ALONE, false);
        cluster.pass(2_100);
        assertTrue(old.leads(), "no member was linked to it while it waited");
        cluster.link(1, 2);
        cluster.link(1, 3);
        takeIn(cluster);
        cluster.link(follower, 1);
        cluster.pass(leaderLinkedLaterMs);
        cluster.link(leader, 1);
        cluster.pass(4_000);
        assertTrue(old.end.isPresent(), "member 1 goes on: " + old.core.status());
        assertTrue(cluster.agrees());
        assertTrue(cluster.leader() != 0
                && cluster.process(cluster.leader()).core.status().termCommitted());
        assertTrue(cluster.process(2).core.status().commitIndex() >= 1_001);
    }

    /** What the keeper of the membership does on a leader. */
    private static void takeIn(QuietCluster cluster) {
        QuietCluster.Process old = cluster.process(1);
        if (old.core.status().termCommitted()) {
            old.core.reconfigure(cluster.nowMs, cluster.nowMs, configuration(Set.of(1, 2, 3), Set.of(1)));
        }
    }

    @Test
    void theOnlyVoterThatServedAloneStopsWhenItHearsTheLeaderOfTheOthers() {
        QuietCluster cluster = twoOfThree();
        QuietCluster.Process old = cluster.start(1, 1, ALONE, false);
        cluster.pass(2_100);
        for (int i = 0; i < 2_000; i++) { // more than the others have
            old.core.propose(cluster.nowMs, cluster.nowMs, CoreBench.batch(1, 1).entries());
        }
        cluster.pass(10);
        cluster.link(2, 1);
        cluster.link(3, 1);
        cluster.link(1, 2);
        cluster.link(1, 3);
        cluster.pass(4_000);
        assertTrue(old.end.isPresent());
        assertTrue(cluster.agrees());
    }

    @Test
    void theOnlyVoterWaitsForTheOthersItKnowsOf() {
        QuietCluster cluster = new QuietCluster(1, 2, 3);
        QuietCluster.Process alone = cluster.start(1, 0, ALONE, false);
        cluster.pass(1_900);
        assertFalse(alone.leads());
        cluster.pass(200);
        assertTrue(alone.leads(), "two election timeouts have passed");
        QuietCluster.Process heard = new QuietCluster(1, 2).start(1, 0, ALONE, false);
        heard.core.heard(2);
        heard.core.tick(1_001, 1_001);
        assertTrue(heard.leads(), "all have been heard");
    }

    @Test
    void aFollowerDoesNotPassOverWhatItHasCommitted() {
        CoreBench bench = new CoreBench(2, false, CoreBench.cluster(3, 3));
        bench.receive(2, CoreBench.append(2, 0, 0, 2, CoreBench.batch(1, 1), CoreBench.batch(2, 2)));
        assertEquals(2, bench.core.status().commitIndex());
        List<PeerMessage> answers =
                bench.receive(3, CoreBench.append(3, 1, 1, 0, CoreBench.batch(3, 2), CoreBench.batch(3, 3)));
        assertEquals(List.of(new PeerMessage.Contradiction(3, 2, 2)), answers);
        assertEquals(2, bench.core.status().leader(), "it goes on with its leader");
        assertEquals(2, bench.core.term());
        assertEquals(
                List.of(new PeerMessage.Contradiction(3, 1, 1)),
                bench.receive(3, CoreBench.append(3, 1, 2, 0)),
                "what comes before an append is compared, too");
    }

    @Test
    void anAcknowledgementBeyondItsLogDeposesAnUnconfirmedLeader() {
        CoreBench bench = new CoreBench(0, false, CoreBench.cluster(3, 3));
        bench.lead();
        bench.acknowledge(2, 7);
        assertEquals(CoreRole.FOLLOWER, bench.core.role(), "no member has acknowledged its term");
        bench.lead();
        bench.acknowledge(2, bench.core.lastIndex());
        bench.acknowledge(3, 7);
        assertEquals(CoreRole.LEADER, bench.core.role(), "a majority has");
    }

    @Test
    void aTermBeyondAllElectionsIsIgnored() {
        QuietCluster cluster = new QuietCluster(1, 2, 3);
        Set.of(1, 2, 3).forEach(id -> cluster.start(id, 5, THREE, false));
        cluster.linkAll();
        cluster.pass(4_000);
        int leader = cluster.leader();
        long term = cluster.process(leader).core.term();
        for (int to : Set.of(1, 2, 3)) {
            cluster.send(to % 3 + 1, to, new VoteRequest(false, Long.MAX_VALUE, 0, 0, 100 + to, true));
        }
        cluster.pass(20_000);
        assertEquals(leader, cluster.leader());
        assertEquals(term, cluster.process(leader).core.term());
        assertTrue(cluster.process(leader).core.takeComplaint().text().contains("9223372036854775807"));
    }

    @Test
    void aSecondLeaderOfTheTermIsIgnoredAndReported() {
        CoreBench bench = new CoreBench(1, false, CoreBench.cluster(3, 3));
        bench.receive(2, CoreBench.append(2, 0, 0, 0));
        assertEquals(List.of(), bench.receive(3, CoreBench.append(2, 0, 0, 0)));
        assertEquals(2, bench.core.status().leader());
        assertTrue(bench.core.takeComplaint().text().contains("both lead in term 2"));
    }

    /** A torn tail on one member, another one is down; the one that led before is whole. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theLastLeaderLeadsAgainWithAProvisionalVote(boolean itsProcessLives) {
        QuietCluster cluster = new QuietCluster(1, 2, 3);
        Set.of(1, 2, 3).forEach(id -> cluster.start(id, 5, THREE, false));
        cluster.linkAll();
        cluster.pass(4_000);
        int leader = cluster.leader();
        Set<Integer> others = new TreeSet<>(Set.of(1, 2, 3));
        others.remove(leader);
        int torn = others.iterator().next();
        long term = cluster.process(leader).core.term();
        others.forEach(cluster::kill);
        cluster.pass(3_000);
        assertEquals(0, cluster.leader());
        if (!itsProcessLives) {
            cluster.kill(leader);
            cluster.start(leader, term, THREE, false);
        }
        cluster.start(torn, term, THREE, true);
        cluster.linkAll();
        cluster.pass(5_000);
        assertEquals(itsProcessLives ? leader : 0, cluster.leader());
        assertEquals(!itsProcessLives, cluster.process(torn).core.status().provisional());
    }
}
