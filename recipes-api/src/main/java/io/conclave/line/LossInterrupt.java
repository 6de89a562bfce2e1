package io.conclave.line;

import io.conclave.grant.Grant;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The interrupt that tells work of a loss: only while the work runs, and never in place of somebody else's.
 *
 * <p>A thread has one flag, which does not say who has set it, and work may run within other work. So none takes a flag
 * that it finds set for its own: it looks again, until the work has cleared the flag or ended. And when inner work
 * ends, all work around it is interrupted again that was told, since the inner one may have taken the interrupt; not if
 * that comes out of the inner one as an exception, or the outer one had taken it before, and cleans up.
 *
 * <p>All work of a thread shares a lock, which guards the state, and under which nothing blocks; so an interrupt meets
 * the work and nothing that comes after it.
 */
public final class LossInterrupt {
    /**
     * How long an interrupt of somebody else is given to end the work, before it is looked whether the work has cleared
     * it and goes on.
     */
    private static final Duration PATIENCE = Duration.ofMillis(10);

    private static final ThreadLocal<@Nullable LossInterrupt> INNERMOST = new ThreadLocal<>();

    private final Thread thread = Thread.currentThread();
    private final @Nullable LossInterrupt outer = INNERMOST.get();
    private final Object lock = outer == null ? new Object() : outer.lock;
    private final List<LossInterrupt> aware = takenAround();
    private final TimeSource time;
    private final Predicate<LossInterrupt> releasedBy;
    private boolean told; // guarded by lock
    private boolean sent; // guarded by lock: the flag was set for this work
    private boolean over; // guarded by lock: nothing is sent any more

    private LossInterrupt(TimeSource time, Predicate<LossInterrupt> releasedBy) {
        this.time = time;
        this.releasedBy = releasedBy;
    }

    /**
     * Work begins on this thread, within that which has begun on it; {@link #end} must follow.
     *
     * @param grant one of this library's, under which the work runs; it is not watched, {@link #onLoss} must be called
     */
    public static LossInterrupt begin(Grant grant) {
        AbstractGrant<?> own = AbstractGrant.of(grant);
        return begin(own.session().time(), own::isReleasedBy);
    }

    /** As {@link #begin(Grant)}, with the clock by which it looks again. */
    static LossInterrupt begin(TimeSource time) {
        return begin(time, work -> false);
    }

    private static LossInterrupt begin(TimeSource time, Predicate<LossInterrupt> releasedBy) {
        LossInterrupt begun = new LossInterrupt(time, releasedBy);
        INNERMOST.set(begun);
        return begun;
    }

    /** The innermost work of the calling thread; null outside of any. */
    public static @Nullable LossInterrupt current() {
        return INNERMOST.get();
    }

    /** Interrupts the work, if it runs; once, however often it is called. Never blocks; any thread. */
    public void onLoss() {
        synchronized (lock) {
            if (!told) {
                told = true;
                sendOrLookAgain();
            }
        }
    }

    private void sendOrLookAgain() {
        synchronized (lock) {
            if (over || sent) {
                return;
            }
            send();
            if (!sent) {
                time.schedule(PATIENCE, this::sendOrLookAgain);
            }
        }
    }

    /** With the lock held. A flag that is set stays somebody else's. */
    private void send() {
        if (!over && !thread.isInterrupted()) {
            sent = true;
            thread.interrupt();
        }
    }

    private Stream<LossInterrupt> around() {
        return Stream.iterate(outer, Objects::nonNull, work -> work.outer);
    }

    /** On the thread of the work: all work around this that has taken its interrupt before. */
    private List<LossInterrupt> takenAround() {
        synchronized (lock) {
            return thread.isInterrupted()
                    ? List.of()
                    : around().filter(work -> work.sent).toList();
        }
    }

    /** Whether this is that work, or has begun within it. Any thread. */
    public boolean isWithin(LossInterrupt work) {
        return this == work || around().anyMatch(one -> one == work);
    }

    /**
     * Whether this work has given the grant up itself, or work within it: then the end is no loss to this work, which
     * waits perhaps for that very end. Other work of the same thread, before or after, does not count. Any thread.
     */
    public boolean isReleasedByWork() {
        return releasedBy.test(this);
    }

    /** Whether the work was to be interrupted. */
    public boolean isTold() {
        synchronized (lock) {
            return told;
        }
    }

    /** From here on nothing is sent, though the work goes on. */
    public void stop() {
        synchronized (lock) {
            over = true;
        }
    }

    /**
     * The work has ended, and is not interrupted any more. Clears the flag if the interrupt was sent and not seen; sets
     * it if the work has seen the interrupt of somebody else, and its caller is not told. On the thread of the work.
     *
     * @param failure what the work threw. An InterruptedException has used up one interrupt; if the thread's flag is
     *     set as well, that is another interrupt
     * @param thrown what the caller of the work is given of it
     */
    public void end(@Nullable Throwable failure, @Nullable Throwable thrown) {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
        boolean isSeen = failure instanceof InterruptedException;
        boolean isThrown = thrown instanceof InterruptedException;
        synchronized (lock) {
            over = true;
            if (sent && !isSeen) {
                Thread.interrupted();
            }
            if (!isThrown) {
                around().filter(work -> work.told && !aware.contains(work)).forEach(LossInterrupt::send);
            }
            if (!sent && isSeen && !isThrown) {
                thread.interrupt();
            }
        }
    }
}
