package io.conclave.consensus;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An ordered log of proposals that every member of the cluster applies alike.
 *
 * <p>Proposals go in from any thread and are gathered into batches; committed batches come out in log order on the
 * log's one thread, the only one that ever calls the {@link StateMachine}. Life cycle:
 *
 * <pre>
 *   NEW --start--&gt; RECOVERING --&gt; FOLLOWING &lt;--&gt; LEADING --close--&gt; CLOSED
 *                     ^   \                              \--I/O error--&gt; FAILED
 *              JOINING     an empty directory that may not make a cluster waits until one takes it in
 * </pre>
 */
public interface ReplicatedLog extends AutoCloseable {

    /**
     * Recovers the newest valid snapshot and the committed log behind it into the machine. Blocks until that is done;
     * where this member is the only voter, until it leads and the first entry of its term is applied. The machine and
     * the listener are called on the log's thread, not on the caller's; {@link LogListener#serving} says when clients
     * may come.
     *
     * @throws DamagedLogException if bytes known to have been durable are not readable; file and offset are named
     * @throws LogException if the log cannot start for another reason (the directory belongs to another member, is in
     *     use, an I/O error)
     * @throws IllegalStateException if it was started before
     */
    void start(StateMachine machine, LogListener listener);

    /**
     * Queues a proposal; from any thread, without blocking. True means that it will either come back as
     * {@link CommittedEntry#origin()}, or be told {@link Proposal#rejected} or {@link Proposal#outcomeUnknown}, unless
     * the log fails (then its outcome is unknown). It survives changes of leader: it is kept, and sent to each new
     * leader, until it is applied, once. False means that it certainly was not and will not be applied, because the
     * queue's bound is reached or the log is not open; {@code rejected} is not called then.
     *
     * <p>Proposals of one thread keep their order.
     *
     * @throws IllegalArgumentException if the payload is larger than {@link LogOptions#maxEntryBytes()} or the kind is
     *     one that only the log itself may write
     */
    boolean propose(Proposal proposal);

    /**
     * Runs the action on the log's thread once everything that any member knew to be committed before this call is
     * applied here, and what was proposed here before it; actions keep their order. It costs no log entry, but a round
     * of messages to the leader and a majority, and waits while there is no leader. An action that throws is logged.
     * Does not block.
     *
     * @return false if the log does not take work (as with {@link #propose}); the action is not run then. After true it
     *     is run, unless the log fails, or is closed before the action is due
     */
    boolean readBarrier(Runnable action);

    /**
     * Asks for a read index (thesis §6.4) with a note for the leader's server: the note reaches
     * {@link LogListener#noted} there, then a majority confirms the leadership, and the action runs on this member's
     * log thread when everything committed by then is applied here. While there is no leader it waits for the next one.
     *
     * @return false if the log does not take work; the action is not run then
     */
    boolean readIndex(byte[] note, Runnable action);

    /**
     * Says something to a member's server, as the answer to its {@linkplain LogListener#noted note}: it reaches
     * {@link LogListener#told} there, or is lost with the link, or if either log does not work. From any thread,
     * without blocking.
     *
     * @param note at most {@link LogOptions#maxEntryBytes()}
     */
    void tell(int member, byte[] note);

    /** The same as {@link #change(MembershipChange, long)}, whatever has been changed before. */
    default CompletionStage<@Nullable Void> change(MembershipChange change) {
        return change(change, Long.MAX_VALUE).thenApply(knownIndex -> null);
    }

    /**
     * Changes the membership of the cluster. The stage completes on the log's thread once the change is committed;
     * exceptionally with a {@link LogException} that says why not, or with a {@link ChangeOutcomeUnknownException} if
     * it may be made yet, or was perhaps made and undone.
     *
     * <p>A change that was asked for long ago must not undo what was done since. So it is not made if the members were
     * changed, other than by themselves, since the configuration that its asker knew; unless there is nothing to change
     * any more. What changes by itself (a member that has caught up gets its vote) does not count.
     *
     * @param knownIndex {@link LogStatus#configurationIndex} of the one that asks, when it asked
     * @return the same for the next change of the one that asks, which knows of this one
     */
    CompletionStage<Long> change(MembershipChange change, long knownIndex);

    /** Transfers leadership to the given member or (0) to the most advanced one; fails if that did not happen. */
    CompletionStage<@Nullable Void> transferLeadership(int member);

    /** Where the log stands; from any thread, without blocking. The parts are read together after each batch. */
    LogStatus status();

    /** What came to the port of the members; from any thread. */
    default PeerCounts peerCounts() {
        return PeerCounts.NONE;
    }

    /**
     * Runs the action on the log's thread, between two pieces of its work; dropped if the log has ended. So a server
     * sees whether the log still moves. An action that blocks holds the log up. From any thread, without blocking.
     */
    default void execute(Runnable action) {
        throw new UnsupportedOperationException("this log runs no actions of others");
    }

    /**
     * Ends at once, as if the process had been killed: nothing is handed over, committed, written or answered any more;
     * {@link #close} waits for it. For a server whose state must not reach anybody. From any thread but the log's.
     */
    default void abandon() {
        close();
    }

    /**
     * Takes no more proposals, commits and applies what was queued (for a bounded time, while there is a majority; what
     * is left then is told that its outcome is unknown), transfers leadership, syncs and releases the directory.
     * Blocks until done; idempotent. Must not be called on the log's thread.
     */
    @Override
    void close();
}
