package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogEntry;
import java.util.List;

/**
 * One member's part in consensus. Methods are inputs; {@link #take} gives what is to be done about them. Times are
 * monotonic milliseconds of the caller's, which never go back. Not thread-safe; the same inputs give the same outputs.
 */
public interface Core {

    /** Time has passed: heartbeats, elections, check quorum. To be called every few milliseconds, or at {@link #nextTickMs}. */
    void tick(long nowMs);

    /** When {@link #tick} has something to do next, if nothing else happens. */
    long nextTickMs();

    /** A message of a member; those of former terms, strangers and nobody's business are ignored or answered as Raft has it. */
    void receive(long nowMs, int from, PeerMessage message);

    /** The link from that member broke: what was sent to us after the last message received is lost. */
    void linkLost(long nowMs, int from);

    /**
     * A link to that member is up: what was sent to it before may be lost. The member says whose directory it has; a
     * leader treats one that is not the configured one as a learner without a log, until the configuration says so too.
     */
    void linked(long nowMs, int to, long directory);

    /**
     * The leader's: makes the entries one batch of the log.
     *
     * @param timestampMs the wall clock; a time before the last batch's counts as that
     * @return the batch's last index
     * @throws IllegalStateException if this member does not lead
     */
    long propose(long nowMs, long timestampMs, List<LogEntry> entries);

    /** This member's log is durable up to here; the term tells a batch from one that has replaced it meanwhile. */
    void durable(long nowMs, long index, long term);

    /** What a member asks of the leader: {@link PeerMessage.ConfirmRequest}; on whatever member, also without a leader. */
    void confirm(long nowMs, long id, byte[] note);

    /** A snapshot is installed: the log begins behind it. */
    void installed(
            long nowMs, long lastIndex, long lastTerm, ClusterConfiguration configuration, long configurationIndex);

    /** The leader's: a snapshot of so many entries is being sent to the member, or the sending has failed. */
    void snapshotSending(long nowMs, int to, long lastIndex, boolean failed);

    /**
     * The leader's: hands leadership to the member, or to the most advanced voter if it is 0. Proposals are not taken meanwhile;
     * given up after an election timeout.
     */
    void transfer(long nowMs, int to);

    /**
     * The leader's: begins a change of the configuration: new learners, removed members, other addresses, and who votes.
     *
     * @throws IllegalStateException if this member does not lead, or another change is under way, or nothing of this term is committed
     */
    void reconfigure(long nowMs, long timestampMs, ClusterConfiguration target);

    /** What is to be done since the last call, in the order that {@link Output} says. */
    Output take();

    /** Where things stand. */
    CoreStatus status();
}
