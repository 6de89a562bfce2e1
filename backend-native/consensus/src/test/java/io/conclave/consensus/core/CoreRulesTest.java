package io.conclave.consensus.core;

import static io.conclave.consensus.core.CoreBench.append;
import static io.conclave.consensus.core.CoreBench.batch;
import static io.conclave.consensus.core.CoreBench.cluster;
import static io.conclave.consensus.core.CoreBench.only;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The log, read indexes and configurations: one core and one rule at a time; sections are those of Ongaro's thesis. See
 * {@link ElectionRulesTest} for who leads.
 */
class CoreRulesTest {
    @Test
    void aCutLogIsWholeAgainOnlyWithAnEntryOfTheLeadersOwnTermCommitted() {
        CoreBench bench = new CoreBench(1, true, cluster(3, 3), batch(1, 1));
        bench.receive(2, append(2, 1, 1, 1, batch(2, 2)));
        assertTrue(bench.core.status().provisional(), "a new leader does not know what is committed");
        bench.receive(2, append(2, 2, 2, 2));
        assertFalse(bench.core.status().provisional());
    }

    @Test
    void entriesOfFormerTermsAreNotCommittedByCounting() {
        CoreBench bench = new CoreBench(2, false, cluster(3, 3), batch(1, 1), batch(2, 2));
        bench.lead();
        bench.acknowledge(2, 2);
        assertEquals(0, bench.core.status().commitIndex());
        bench.acknowledge(2, 3);
        assertEquals(3, bench.core.status().commitIndex());
    }

    @Test
    void theCommitIndexIsSentAtOnceToFollowersWithNothingToAppend() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.acknowledge(2, 1);
        bench.acknowledge(3, 1);
        long index = bench.core.propose(bench.nowMs, 1, bench.entry());
        bench.sent();
        List<PeerMessage> sent = bench.receive(2, new AppendReply(1, true, index, 0, 0, bench.lastRound));
        assertEquals(List.of(new Commit(1, index), new Commit(1, index)), sent);
        assertEquals(
                2, only(Append.class, bench.pass(200)).size(), "a heartbeat, which is answered, comes in its time");
    }

    @Test
    void aFollowerDoesNotAnswerACommitAndCommitsOnlyEntriesOfItsLeader() {
        CoreBench bench = new CoreBench(1, false, cluster(3, 3), batch(1, 1));
        bench.receive(2, append(2, 0, 0, 0));
        assertEquals(List.of(), bench.receive(2, new Commit(2, 1)));
        assertEquals(0, bench.core.status().commitIndex(), "what is here may be another entry than the leader's");
        bench.receive(2, append(2, 0, 0, 0, batch(1, 1), batch(2, 2)));
        assertEquals(List.of(), bench.receive(3, new Commit(2, 2)), "it does not lead");
        assertEquals(List.of(), bench.receive(2, new Commit(1, 2)), "of a former term");
        assertEquals(1, bench.core.status().commitIndex(), "the first batch is known to be the leader's now");
        assertEquals(List.of(), bench.receive(2, new Commit(2, 3)));
        assertEquals(2, bench.core.status().commitIndex());
    }

    @Test
    void theLeadersOwnLogCountsOnlyWhenItIsDurable() {
        CoreBench bench = new CoreBench(0, false, cluster(2, 2));
        bench.lead();
        long index = bench.core.propose(bench.nowMs, 1, bench.entry());
        bench.takeUnwritten();
        bench.core.receive(bench.nowMs, 2, new AppendReply(1, true, index, 0, 0, bench.lastRound));
        assertTrue(bench.core.status().commitIndex() < index);
        bench.core.durable(bench.nowMs, index, 1);
        assertEquals(index, bench.core.status().commitIndex());
    }

    @Test
    void aRequestThatIsRepeatedWhileItWaitsIsAnsweredOnceAndItsNoteHandedOutOnce() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        int notes = 0;
        for (int i = 0; i < 5; i++) {
            bench.receive(2, new ReadIndexRequest(7, new byte[1]));
            notes += bench.outputs.stream()
                    .mapToInt(output -> output.notes().size())
                    .sum();
        }
        assertEquals(1, notes);
        List<PeerMessage> sent = bench.receive(2, new AppendReply(1, true, 1, 0, 0, 0));
        sent.addAll(bench.receive(2, new AppendReply(1, true, 1, 0, 0, bench.lastRound)));
        assertEquals(1, only(ReadIndexReply.class, sent).size());
    }

    @Test
    void acknowledgementsOfAFormerLinkDoNotCount() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.lastRound = 0;
        bench.core.linked(bench.nowMs, 2, 102);
        bench.acknowledge(2, 1);
        assertEquals(0, bench.core.status().commitIndex(), "said before the member was linked again");
        long round = only(Append.class, bench.pass(300)).get(0).round();
        bench.lastRound = round;
        bench.acknowledge(2, 1);
        assertEquals(1, bench.core.status().commitIndex());
    }

    @Test
    void aFollowerAcknowledgesOnlyWhatIsDurable() {
        CoreBench bench = new CoreBench(1, false, cluster(3, 3));
        bench.core.receive(bench.nowMs, 2, append(1, 0, 0, 0, batch(1, 1)));
        assertEquals(List.of(), bench.takeUnwritten());
        bench.core.receive(bench.nowMs, 2, append(1, 1, 1, 0));
        assertEquals(0, only(AppendReply.class, bench.takeUnwritten()).get(0).matchIndex());
        bench.core.durable(bench.nowMs, 1, 1);
        assertEquals(1, only(AppendReply.class, bench.takeUnwritten()).get(0).matchIndex());
    }

    @Test
    void aConflictIsCutAndTheHintSkipsWholeTerms() {
        CoreBench bench =
                new CoreBench(3, false, cluster(3, 3), batch(1, 1), batch(2, 2), batch(2, 3), batch(3, 4), batch(3, 5));
        AppendReply refused =
                only(AppendReply.class, bench.receive(2, append(5, 5, 2, 0))).get(0);
        assertFalse(refused.accepted());
        assertEquals(5, refused.matchIndex());
        assertEquals(3, refused.hintIndex());
        assertEquals(2, refused.hintTerm());
        bench.core.receive(bench.nowMs, 2, append(5, 3, 2, 0, batch(5, 4)));
        bench.takeUnwritten();
        assertEquals(3, bench.outputs.get(0).cutAfter());
        assertEquals(
                List.of(batch(5, 4).toString()),
                bench.outputs.get(0).append().stream().map(Object::toString).toList());
        bench.core.durable(bench.nowMs, 4, 3);
        assertEquals(
                List.of(),
                only(AppendReply.class, bench.takeUnwritten()).stream()
                        .filter(reply -> reply.matchIndex() > 3)
                        .toList(),
                "what was cut is not durable");
    }

    @Test
    void anOldDuplicateCutsNothing() {
        CoreBench bench = new CoreBench(1, false, cluster(3, 3));
        bench.receive(2, append(1, 0, 0, 0, batch(1, 1), batch(1, 2), batch(1, 3)));
        bench.receive(2, append(1, 0, 0, 0, batch(1, 1)));
        assertEquals(3, bench.core.status().lastIndex());
    }

    @Test
    void anAppendOfAnOldTermIsRefusedWithTheTerm() {
        CoreBench bench = new CoreBench(5, false, cluster(3, 3));
        AppendReply reply =
                only(AppendReply.class, bench.receive(2, append(4, 0, 0, 0))).get(0);
        assertEquals(5, reply.term());
        assertFalse(reply.accepted());
    }

    @Test
    void aReadIndexNeedsTheOwnTermCommittedAndAMajorityAfterTheNote() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.receive(3, new ReadIndexRequest(7, new byte[] {1}));
        assertEquals(1, bench.outputs.get(0).notes().size());
        bench.lastRound = 1 << 20;
        bench.acknowledge(2, 0);
        bench.lastRound = 0;
        List<PeerMessage> sent = bench.receive(2, new AppendReply(1, true, 1, 0, 0, 0));
        long round =
                only(Append.class, sent).stream().mapToLong(Append::round).max().orElseThrow();
        assertTrue(round > 0, "the round begins when the own term is committed");
    }

    @Test
    void aReadIndexIsAnsweredByARoundOfItsOwn() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.lastRound = 0;
        bench.receive(2, new AppendReply(1, true, 1, 0, 0, 0));
        List<PeerMessage> sent = bench.receive(3, new ReadIndexRequest(7, new byte[0]));
        long round = only(Append.class, sent).get(0).round();
        assertEquals(
                List.of(), only(ReadIndexReply.class, bench.receive(2, new AppendReply(1, true, 1, 0, 0, round - 1))));
        ReadIndexReply reply = only(ReadIndexReply.class, bench.receive(2, new AppendReply(1, true, 1, 0, 0, round)))
                .get(0);
        assertEquals(new ReadIndexReply(1, 7, 1), reply);
    }

    @Test
    void aReadIndexAskedOfOneLeaderIsAskedOfTheNext() {
        CoreBench bench = new CoreBench(1, false, cluster(3, 3));
        bench.receive(2, append(1, 0, 0, 0));
        bench.core.readIndex(bench.nowMs, 9, new byte[0]);
        assertEquals(1, only(ReadIndexRequest.class, bench.sent()).size());
        assertEquals(
                1,
                only(ReadIndexRequest.class, bench.receive(3, append(2, 0, 0, 0)))
                        .size());
        bench.receive(3, new ReadIndexReply(2, 9, 4));
        assertEquals(
                List.of(new CoreOutput.ReadIndex(9, 4)), bench.outputs.get(0).readIndexes());
    }

    @Test
    void aChangeOfVotersGoesThroughBothMajoritiesAndIsCompletedByItself() {
        CoreBench bench = new CoreBench(0, false, cluster(5, 3));
        bench.lead();
        assertThrows(
                IllegalStateException.class,
                () -> bench.core.reconfigure(bench.nowMs, 1, cluster(5, 5)),
                "nothing of the term is committed");
        bench.acknowledge(2, 1);
        ClusterConfiguration target = new ClusterConfiguration(cluster(5, 3).members(), Set.of(1, 4, 5), Set.of());
        bench.core.reconfigure(bench.nowMs, 1, target);
        bench.sent();
        assertTrue(bench.core.status().configuration().isJoint());
        bench.acknowledge(2, 2);
        assertEquals(1, bench.core.status().commitIndex(), "only a majority of the old voters");
        bench.acknowledge(4, 2);
        assertEquals(2, bench.core.status().commitIndex());
        assertEquals(target, bench.core.status().configuration());
        assertFalse(bench.core.status().configurationCommitted());
    }

    /** Else it would not learn that it was removed, and its clients would wait. */
    @Test
    void aMemberThatIsRemovedIsSentThatAndNotCounted() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.acknowledge(2, 1);
        bench.acknowledge(3, 1);
        Map<Integer, EnsembleMember> members = new TreeMap<>(cluster(3, 3).members());
        members.remove(3);
        bench.core.reconfigure(bench.nowMs, 1, new ClusterConfiguration(members, Set.of(1, 2), Set.of()));
        bench.sent();
        bench.acknowledge(3, 2);
        assertEquals(1, bench.core.status().commitIndex(), "a majority of the voters before only");
        assertEquals(2, withBatches(acknowledged(bench, 2, 2)), "the configuration without it goes to both");
        assertEquals(2, bench.core.status().commitIndex());
        bench.acknowledge(3, 3);
        assertEquals(2, bench.core.status().commitIndex(), "it votes no more");
        assertEquals(2, only(Commit.class, acknowledged(bench, 2, 3)).size(), "that this is committed, to both");
        assertEquals(3, bench.core.status().commitIndex());
        bench.pass(CoreOptions.DEFAULT.electionTimeoutMs());
        bench.core.propose(bench.nowMs, 1, bench.entry());
        assertEquals(1, withBatches(bench.sent()), "nothing to the one that has left");
    }

    private static List<PeerMessage> acknowledged(CoreBench bench, int from, long index) {
        return bench.receive(from, new AppendReply(bench.core.status().term(), true, index, 0, 0, bench.lastRound));
    }

    private static long withBatches(List<PeerMessage> sent) {
        return only(Append.class, sent).stream()
                .filter(append -> !append.batches().isEmpty())
                .count();
    }

    @Test
    void aVotersDirectoryCannotChange() {
        CoreBench bench = new CoreBench(0, false, cluster(3, 3));
        bench.lead();
        bench.acknowledge(2, 1);
        Map<Integer, EnsembleMember> members = new TreeMap<>(cluster(3, 3).members());
        members.put(3, members.get(3).withDirectory(999));
        assertThrows(
                IllegalArgumentException.class,
                () -> bench.core.reconfigure(
                        bench.nowMs, 1, new ClusterConfiguration(members, Set.of(1, 2), Set.of())));
    }

    @Test
    void aConfigurationThatIsCutOffBringsTheFormerOneBack() {
        CoreBench bench = new CoreBench(1, false, cluster(3, 3));
        bench.receive(2, append(1, 0, 0, 0, batch(1, 1, cluster(5, 5))));
        assertEquals(cluster(5, 5), bench.core.status().configuration());
        bench.receive(3, append(2, 0, 0, 0, batch(2, 1)));
        assertEquals(cluster(3, 3), bench.core.status().configuration());
    }

    /** Simulation, seed 126 of its first version: the new configuration was known to the removed leader only. */
    @Test
    void aMemberRemovedByAnUncommittedConfigurationMayStillLead() {
        ClusterConfiguration joint =
                new ClusterConfiguration(cluster(2, 2).members(), Set.of(2), Set.of(1, 2), Set.of(1));
        ClusterConfiguration last =
                new ClusterConfiguration(Map.of(2, cluster(2, 2).members().get(2)), Set.of(2), Set.of());
        CoreBench bench = new CoreBench(1, false, cluster(2, 2), batch(1, 1, joint), batch(1, 2, last));
        bench.core.linked(bench.nowMs, 2, 102);
        assertEquals(1, only(VoteRequest.class, bench.pass(2_500)).size());
        bench.receive(2, new VoteReply(true, 2, true, false, 0));
        bench.receive(2, new VoteReply(false, 2, true, false, 0));
        assertEquals(CoreRole.LEADER, bench.core.status().role());
        List<PeerMessage> sent = bench.receive(2, new AppendReply(2, true, 3, 0, 0, bench.lastRound));
        assertEquals(1, only(TimeoutNow.class, sent).size(), "it goes once the configuration is committed");
        assertEquals(CoreRole.FOLLOWER, bench.core.status().role());
    }

    @Test
    void aSnapshotIsWantedOnlyForWhatIsNotHere() {
        CoreBench bench = new CoreBench(2, false, cluster(3, 3), batch(1, 1), batch(1, 2));
        assertFalse(bench.core.wantsSnapshot(2, 1), "the log has it, and perhaps acknowledged more");
        assertTrue(bench.core.wantsSnapshot(2, 2));
        bench.core.installed(bench.nowMs, 9, 2, 5, cluster(3, 3), 0);
        assertEquals(9, bench.core.status().commitIndex());
        assertThrows(IllegalStateException.class, () -> bench.core.installed(bench.nowMs, 8, 2, 5, cluster(3, 3), 0));
    }
}
