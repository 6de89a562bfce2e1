package io.conclave.grant;

import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Something that was given to its owner for as long as the owner's session lives. Most grants have a token ({@link
 * FencedGrant}); the permits of a semaphore, which many owners hold at a time, have none.
 *
 * <p>It belongs to no thread; everything here may be called from anywhere. After {@link #lost()} it never comes back.
 */
public interface Grant extends AutoCloseable {
    /**
     * How long the grant surely lasts from now if nothing more is heard of the server; zero once it is lost. Asked at
     * the moment of the call from the clocks, so it is right at once after a pause of the process. It covers the loss
     * of the session only: a deletion by others takes effect at once, and there only the token protects. Never blocks.
     */
    Duration remaining();

    /**
     * Whether {@link #remaining()} ends before the server can give the resource to another client, or may be late by a
     * follower's lag.
     */
    boolean deadlineIsStrict();

    /** Whether the grant is held now: not lost, and time remains. Never blocks. */
    default boolean isHeld() {
        return !remaining().isZero();
    }

    /**
     * Returns if the grant is held now. Never blocks.
     *
     * @throws GrantLostException if it is not, with the reason
     */
    void ensureHeld();

    /**
     * Completes once, with the reason, when the grant is no longer held. Its continuations run on the coordinator's
     * listener threads and may block. Each call gives a future of its own: completing, cancelling or blocking it
     * affects no other. The grant keeps each until it has ended, so ask once; to look again and again there is {@link
     * #isHeld()}.
     */
    CompletableFuture<LossReason> lost();

    /**
     * Gives the grant back. Idempotent. Waits for the backend's confirmation, at most for what remains of the session
     * and never longer than the session timeout; without a confirmation the deletion goes on in the background until
     * the session is gone. Never throws for a lost connection or a lost grant, and ignores interrupts (the thread's
     * interrupt flag is kept).
     */
    @Override
    void close();

    /**
     * Gives the grant back without waiting. The future completes when the backend has confirmed it or the session is
     * gone; never exceptionally. Its continuations run on the coordinator's listener threads and may block. Cancelling
     * it takes nothing back.
     */
    CompletableFuture<Void> closeAsync();
}
