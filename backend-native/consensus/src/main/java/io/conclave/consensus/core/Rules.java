package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * The decisions on which safety and calm hang, in one place and without state, so that tests can show that each of them
 * is needed. Sections are those of Ongaro's thesis.
 */
class Rules {
    static final Rules RAFT = new Rules();

    /** Some thirty years of an election each millisecond. */
    private static final long MAX_TERMS_AHEAD = 1L << 40;

    /** An election is first asked for (§9.6). */
    boolean asksBeforeVotes() {
        return true;
    }

    /** A member that hears a leader votes for no other (§4.2.3), unless the leader asks for it (§3.10). */
    boolean refusesForLeader(boolean hearsLeader, boolean transfer) {
        return hearsLeader && !transfer;
    }

    /** Only a log that has everything of ours may lead (§3.6.1). */
    boolean isUpToDate(VoteRequest request, long lastIndex, long lastTerm) {
        return request.lastTerm() > lastTerm || (request.lastTerm() == lastTerm && request.lastIndex() >= lastIndex);
    }

    /** One vote a term (§3.4). */
    boolean mayVoteFor(int candidate, int votedFor) {
        return votedFor == 0 || votedFor == candidate;
    }

    /** A vote is asked of a directory: one that is new or was wiped has none. */
    boolean isAsked(long voterDirectory, long ownDirectory) {
        return voterDirectory == ownDirectory;
    }

    /** Whether what a member says counts as that of the configured voter. */
    boolean countsAsVoter(long configuredDirectory, long shownDirectory) {
        return configuredDirectory != 0 && configuredDirectory == shownDirectory;
    }

    /**
     * A majority of those that lost nothing; or all, of which at least one has all that is committed.
     *
     * @param complete the voters that have lost nothing
     * @param provisional the voters that may have lost the end of their logs
     */
    boolean isElected(ClusterConfiguration configuration, Set<Integer> complete, Set<Integer> provisional) {
        return configuration.isMajority(complete::contains)
                || (!configuration.voters().isEmpty()
                        && configuration.members().keySet().stream()
                                .filter(configuration::isVoter)
                                .allMatch(id -> complete.contains(id) || provisional.contains(id)));
    }

    /** Only entries of the own term are committed by counting (§3.6.2). */
    boolean mayCommit(long entryTerm, long term) {
        return entryTerm == term;
    }

    /** A batch of ours gives way to the leader's (§3.5). */
    boolean mustCut(LogBatch ours, LogBatch leaders) {
        return ours.term() != leaders.term() || ours.firstIndex() != leaders.firstIndex();
    }

    /** What is committed here is equal to what any later leader has, as far as it is in memory (§3.6.3). */
    boolean differsFromCommitted(LogBatch leaders, LogWindow ours) {
        if (leaders.firstIndex() > ours.baseIndex()) {
            return mustCut(ours.batchWith(leaders.firstIndex()), leaders);
        }
        return leaders.lastIndex() == ours.baseIndex() && leaders.term() != ours.termAt(ours.baseIndex());
    }

    /** The same of the entry in front of a leader's batches, which is in memory here. */
    boolean differsFromCommitted(long previousIndex, long previousTerm, LogWindow ours) {
        return !ours.isBorder(previousIndex) || ours.termAt(previousIndex) != previousTerm;
    }

    /** A leader begins its term behind whatever was committed before it. */
    boolean isTooEarly(LogBatch leaders, long term, long committedBeforeTerm) {
        return leaders.term() == term && leaders.firstIndex() <= committedBeforeTerm;
    }

    /** A follower of this term has nothing durable and equal to ours that we do not have. */
    boolean isBeyond(long matchIndex, long lastIndex) {
        return matchIndex > lastIndex;
    }

    /** A member whose disk is said to have been set back says nothing: neither its vote nor its log counts. */
    boolean takesPart(boolean suspected) {
        return !suspected;
    }

    /**
     * Whether the others can do without this member's log: a majority of the voters that does not contain it, which
     * they need anyway to take it in again; or two that know a later configuration than this member does.
     *
     * @param voters the members that have confirmed that the disk was set back and have all that is committed, as
     *     voters of the configuration
     * @param later those that have confirmed the same and know a later configuration
     */
    boolean mayGiveUpLog(ClusterConfiguration configuration, int self, Set<Integer> voters, Set<Integer> later) {
        return configuration.isMajority(id -> id != self && voters.contains(id)) || later.size() >= 2;
    }

    /** The only voter has waited for the others long enough, or has heard all of them. */
    boolean mayLeadAlone(boolean heardAll, boolean patienceIsOver) {
        return heardAll || patienceIsOver;
    }

    /** A member without a state could not serve, nor tell its server that it leads. */
    boolean mayStand(boolean hasState) {
        return hasState;
    }

    /** Batches belong to the state that they follow, and reads to one that is whole. */
    boolean mayApply(boolean hasState) {
        return hasState;
    }

    /** Terms grow by one an election: no member is so far ahead. */
    boolean isPlausible(long term, long own) {
        return term - own <= MAX_TERMS_AHEAD;
    }

    /**
     * Whether a provisional vote counts as a complete one for a candidate that has led since its start: it has
     * everything that was committed up to the end of that term, so what the voter lost is there.
     *
     * @param ledTerm the last term in which the candidate led since its start; 0 if it did not
     * @param doubtTerm the voter's, when it lost the end of its log
     */
    boolean vouches(long ledTerm, long doubtTerm) {
        return ledTerm > 0 && ledTerm >= doubtTerm;
    }

    /** A leader knows what is committed once an entry of its own term is (§6.4). */
    boolean mayBeginReadIndex(boolean termCommitted) {
        return termCommitted;
    }

    /** Leadership is confirmed by a majority (§6.4). */
    boolean isLeadershipConfirmed(ClusterConfiguration configuration, IntPredicate acknowledged) {
        return configuration.isMajority(acknowledged);
    }

    /** A change of voters needs both majorities for a while (§4.3). */
    boolean needsJoint(ClusterConfiguration current, ClusterConfiguration target) {
        return !current.voters().equals(target.voters());
    }

    /** What was said on an earlier link counts no more: the member may have lost since what it acknowledged there. */
    boolean isOfThisLink(long round, long firstRoundOfLink) {
        return round >= firstRoundOfLink;
    }

    /** A snapshot that holds nothing new would take acknowledged entries away (§5.1). */
    boolean wantsSnapshot(long lastIndex, long lastTerm, long commitIndex, LogWindow log) {
        return lastIndex > commitIndex && !(log.isBorder(lastIndex) && log.termAt(lastIndex) == lastTerm);
    }

    /**
     * Whether a member that lost the end of its log has everything again that it may ever have acknowledged: it has
     * what its leader calls committed, with an entry of the leader's own term, before which a leader does not know.
     */
    boolean hasCaughtUp(long toldCommitIndex, long termOfThat, long term, long durableIndex) {
        return toldCommitIndex <= durableIndex && termOfThat == term;
    }
}
