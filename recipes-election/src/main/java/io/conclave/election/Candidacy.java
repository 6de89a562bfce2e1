package io.conclave.election;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A candidate that campaigns again and again, and does its work whenever it leads; see
 * {@link LeaderElection#runWhileLeader}. Thread-safe.
 */
public interface Candidacy extends AutoCloseable {
    /**
     * The leadership under which the work runs or is about to begin, held or lost already; empty between two works.
     * Never blocks.
     */
    Optional<Leadership> leadership();

    /** How often the work was begun. */
    long runCount();

    /** How often the work ended with an exception other than by the interrupt of a loss. */
    long failureCount();

    /**
     * Ends the candidacy: leaves the line, or interrupts the work, waits for its end and resigns. It waits for the
     * session timeout at most: a work that has not ended then goes on, and leads until it ends. Called by the work
     * itself it only sees to it that there is no next campaign; a later call by another thread interrupts the work.
     * Idempotent; ignores interrupts (the thread's interrupt flag is kept).
     */
    @Override
    void close();

    /**
     * As {@link #close()}, without waiting. The future completes on a listener thread when the work has ended and
     * nothing is left in the line; before the session's first connection at once, and what still gets into the line is
     * deleted. Never exceptionally.
     */
    CompletableFuture<Void> closeAsync();
}
