package io.conclave.consensus;

/**
 * An ordered log of proposals that every member of the cluster applies alike.
 *
 * <p>Proposals go in from any thread and are gathered into batches; committed batches come out in log order on the
 * log's one thread, the only one that ever calls the {@link StateMachine}. Life:
 *
 * <pre>
 *   NEW --start--&gt; RECOVERING --&gt; LEADING --close--&gt; CLOSED
 *                       \             \--I/O error--&gt; FAILED
 * </pre>
 */
public interface ReplicatedLog extends AutoCloseable {

    /**
     * Recovers the newest valid snapshot and the log behind it into the machine, then leads: a new term is made
     * durable before anything else, and its TERM entry is applied. Blocks until the log takes proposals. The machine
     * is called on the log's thread, not on the caller's.
     *
     * @throws DamagedLogException if bytes known to have been durable are not readable; file and offset are named
     * @throws LogException if the log cannot start for another reason (the directory belongs to somebody else, is in
     *     use, an I/O error)
     * @throws IllegalStateException if it was started before
     */
    void start(StateMachine machine);

    /**
     * Queues a proposal; from any thread, without blocking. True means that it will either come back as
     * {@link CommittedEntry#origin()} or be told {@link Proposal#rejected}, unless the log fails (then its outcome is
     * unknown). False means that it certainly was not and will not be applied, because the queue's bound is reached or
     * the log is not leading; {@code rejected} is not called then.
     *
     * <p>Proposals of one thread keep their order.
     *
     * @throws IllegalArgumentException if the payload is larger than {@link LogOptions#maxEntryBytes()} or the kind is
     *     one that only the log itself may write
     */
    boolean propose(Proposal proposal);

    /**
     * Runs the action on the log's thread once everything committed before this call is applied; actions keep their
     * order. It costs no log entry. An action that throws is logged. Does not block.
     *
     * @return false if the log does not take work (as with {@link #propose}); the action is not run then. After true it
     *     is run, unless the log fails
     */
    boolean readBarrier(Runnable action);

    /** Where the log stands; from any thread, without blocking. The parts are read together after each batch. */
    LogStatus status();

    /**
     * Takes no more proposals, commits and applies what was queued, syncs and releases the directory. Blocks until
     * done; idempotent. Must not be called on the log's thread.
     */
    @Override
    void close();
}
