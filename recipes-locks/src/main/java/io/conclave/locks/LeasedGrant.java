package io.conclave.locks;

import io.conclave.error.GrantLostException;
import io.conclave.grant.FencedGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A grant that lasts for its lease, whatever becomes of the session and of the process: {@link #remaining()} is the
 * time of the lease that is surely left, by the holder's own clocks, counted from before the request was sent.
 *
 * <p>It ends when its time is over ({@link io.conclave.error.LossReason#TIME_OVER}; the holder deletes its znode then),
 * when it is released by anybody who knows its {@link #id()} ({@code NODE_DELETED}), and for this process when its
 * coordinator is closed ({@code COORDINATOR_CLOSED}; the lease goes on). A lost session is nothing to it. {@link
 * #close()} releases it; to leave it to another process do not close it, and send the id along.
 *
 * <p>The {@link #token()} of a lock fences its late writers. That of permits does not: several are out at a time, and a
 * guard would refuse all holders but the youngest.
 */
public interface LeasedGrant extends FencedGrant {
    /**
     * What names this grant in any process: see {@link LeasedLock#release} and {@link LeasedLock#resume}. ASCII text of
     * 42 characters. Never blocks.
     */
    String id();

    /** How many permits it takes; 1 of a lock. Never blocks. */
    int permits();

    /** How long the lease is, from each extension on. Never blocks. */
    Duration lease();

    /**
     * Begins the lease anew, from before this call's request was sent. Others may rely on the length that was written
     * before, so a lease never gets shorter: with a shorter time than before, the time before counts. Blocks until the
     * store has confirmed it, at most for what remains; goes on over lost connections and sessions.
     *
     * @throws GrantLostException if the grant was lost before that was confirmed
     * @throws IllegalArgumentException if the lease is not positive, or longer than 365 days
     * @throws IllegalStateException if another client has overwritten the grant's znode with what is no lease
     * @throws io.conclave.error.RefusedException if the store refuses it; the grant goes on as it is
     * @throws InterruptedException if the thread is interrupted; it may be extended anyway
     */
    void extend(Duration lease) throws InterruptedException;

    /** As {@link #extend}, without blocking. Completes on a listener thread. */
    CompletableFuture<Void> extendAsync(Duration lease);
}
