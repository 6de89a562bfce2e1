package io.conclave.spring.integration;

import io.conclave.election.Leadership;
import io.conclave.line.LossInterrupt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The time from one grant of leadership to its revocation, as the candidate sees it.
 *
 * <p>The candidate is called on a thread of its own, which is interrupted only while it is told of the grant: the
 * election interrupts its worker at any time, and a revocation should not be disturbed.
 */
final class CandidateTerm {
    private final Leadership leadership;
    private final Told candidate;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final CompletableFuture<Void> revoked = new CompletableFuture<>();
    private final Object lock = new Object();
    private @Nullable LossInterrupt granting; // guarded by lock: while the candidate is told of the grant
    private volatile @Nullable Thread thread;
    private volatile boolean isClosedByCandidate;

    /** The candidate, as a term calls it. */
    interface Told {
        void onGranted() throws InterruptedException;

        void onRevoked();
    }

    CandidateTerm(Leadership leadership, Told candidate) {
        this.leadership = leadership;
        this.candidate = candidate;
    }

    /** The leadership of this term. */
    Leadership leadership() {
        return leadership;
    }

    /** Whether the candidate leads. */
    boolean isLeader() {
        return !over.isDone() && leadership.isHeld();
    }

    /** Whether the calling thread is the one on which the candidate is called. */
    boolean isCandidatesThread() {
        return Thread.currentThread() == thread;
    }

    /**
     * Tells the candidate of the grant, waits for the end and tells it of the revocation. Blocks.
     *
     * @throws RuntimeException of the candidate, when it failed to take the leadership
     */
    void run(String name) {
        Thread calls = new Thread(this::calls, name);
        calls.setDaemon(true);
        thread = calls;
        calls.start();
        leadership.lost().thenRun(this::endByLoss);
        boolean isInterrupted = false;
        while (true) {
            try {
                revoked.get();
                break;
            } catch (InterruptedException e) {
                isInterrupted = true; // lost, or the candidacy is closed
                if (!isClosedByCandidate) {
                    endByLoss();
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the term, however far it is. A candidate that is told of the grant is interrupted, also if it has yielded
     * before, unless it calls this itself. Never blocks; any thread.
     */
    void end() {
        synchronized (lock) {
            over.complete(null);
            if (granting != null && !isCandidatesThread()) {
                granting.onLoss();
            }
        }
    }

    /** As {@link #end}, but a candidate that resigns or hands over in its own call is not interrupted for that. */
    private void endByLoss() {
        synchronized (lock) {
            if (granting != null && granting.isReleasedByWork()) {
                over.complete(null);
            } else {
                end();
            }
        }
    }

    /** Ends the term, whose candidate closes the candidacy: it is not interrupted for that. On its thread. */
    void endByCandidate() {
        isClosedByCandidate = true;
        end();
    }

    private void calls() {
        @Nullable Throwable failure = null;
        try {
            if (!grant()) {
                revoked.complete(null); // over before it began
                return;
            }
            over.join();
        } catch (InterruptedException e) {
            over.complete(null); // the candidate gives up
        } catch (Throwable e) { // Kotlin and Scala code may throw anything: it must be revoked anyway
            failure = e;
            over.complete(null);
        }
        try {
            candidate.onRevoked();
        } catch (Throwable e) {
            failure = failure == null ? e : failure;
        }
        if (failure == null) {
            revoked.complete(null);
        } else {
            revoked.completeExceptionally(failure);
        }
    }

    /** Whether the candidate was told. */
    private boolean grant() throws InterruptedException {
        synchronized (lock) {
            if (over.isDone()) {
                return false;
            }
            granting = LossInterrupt.begin(leadership);
        }
        @Nullable Throwable failure = null;
        try {
            candidate.onGranted();
        } catch (Throwable e) {
            failure = e;
            throw e;
        } finally {
            synchronized (lock) {
                granting.end(failure, failure);
                granting = null;
            }
            Thread.interrupted(); // the thread is the term's own, and the revocation is not to be disturbed
        }
        return true;
    }
}
