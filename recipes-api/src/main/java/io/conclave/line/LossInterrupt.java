package io.conclave.line;

import io.conclave.time.TimeSource;
import java.time.Duration;

/**
 * The interrupt that tells work of a loss: once, only while the work runs, and never in place of somebody else's.
 *
 * <p>All state is guarded by the object's monitor, under which nothing blocks; so an interrupt meets the work and
 * nothing that comes after it.
 */
final class LossInterrupt {
    /**
     * How long an interrupt of somebody else is given to end the work, before it is looked whether the work has cleared
     * it and goes on.
     */
    private static final Duration PATIENCE = Duration.ofMillis(10);

    private final Thread thread;
    private final TimeSource time;
    private boolean sent;
    private boolean ended;

    LossInterrupt(Thread thread, TimeSource time) {
        this.thread = thread;
        this.time = time;
    }

    /** Interrupts the work, if it runs. Never blocks; any thread. */
    synchronized void onLoss() {
        if (ended || sent) {
            return;
        }
        if (thread.isInterrupted()) { // by somebody else: what is set stays theirs
            time.schedule(PATIENCE, this::onLoss);
            return;
        }
        sent = true;
        thread.interrupt();
    }

    /**
     * The work has ended, and is not interrupted any more. Clears the flag if the interrupt was sent and not seen. On
     * the thread of the work.
     *
     * @param byInterrupt whether the work ended by InterruptedException: then one interrupt was seen, and a flag is
     *     another one
     */
    synchronized void end(boolean byInterrupt) {
        ended = true;
        if (sent && !byInterrupt) {
            Thread.interrupted();
        }
    }

    /** Whether the work was interrupted for the loss. */
    synchronized boolean isSent() {
        return sent;
    }
}
