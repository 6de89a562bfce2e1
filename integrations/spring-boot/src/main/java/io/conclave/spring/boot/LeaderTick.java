package io.conclave.spring.boot;

import org.jspecify.annotations.Nullable;

/**
 * One run of a method that only the leader runs. It is interrupted once at most, and only while it runs. All state is
 * guarded by the object's monitor, under which nothing blocks.
 */
final class LeaderTick {
    private final Thread thread = Thread.currentThread();
    private boolean sent;
    private boolean ended;

    /** The leadership ends. Any thread. */
    synchronized void interrupt() {
        if (!ended && !sent && !thread.isInterrupted()) { // a flag that others have set stays theirs
            sent = true;
            thread.interrupt();
        }
    }

    /**
     * It is not interrupted any more. Clears the flag if the interrupt was sent and not seen. On its own thread.
     *
     * @param failure what it has thrown; an InterruptedException has seen the interrupt, and a flag is another one then
     */
    synchronized void end(@Nullable Throwable failure) {
        ended = true;
        if (sent && !(failure instanceof InterruptedException)) {
            Thread.interrupted();
        }
    }
}
