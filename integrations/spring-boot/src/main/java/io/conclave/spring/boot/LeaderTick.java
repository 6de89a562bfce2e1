package io.conclave.spring.boot;

import io.conclave.election.Leadership;
import io.conclave.line.LossInterrupt;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One run of a method that only the leader runs. It is told that the leadership ends by an interrupt, only while it
 * runs.
 */
final class LeaderTick {
    private final Thread thread = Thread.currentThread();
    private final LossInterrupt interrupt;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private LeaderTick(LossInterrupt interrupt) {
        this.interrupt = interrupt;
    }

    /** A run on this thread, within those that have begun on it. */
    static LeaderTick begin(Leadership leadership) {
        return new LeaderTick(LossInterrupt.begin(leadership));
    }

    /** The leadership ends. Any thread. */
    void interrupt() {
        interrupt.onLoss();
    }

    /** Whether it has given the leadership up itself; other runs of its thread do not count. */
    boolean hasGivenUp() {
        return interrupt.isReleasedByWork();
    }

    /** Whether its end waits for the stop that this thread is carrying out: it has called that, or System.exit. */
    boolean awaitsThisStop() {
        return awaitsThisStop(thread);
    }

    /** Whether a thread is this one, or has called System.exit, which returns to nobody and waits for this one. */
    static boolean awaitsThisStop(@Nullable Thread thread) {
        if (thread == null) {
            return false;
        }
        return thread == Thread.currentThread()
                || Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("exit")
                                && frame.getClassName().equals(Runtime.class.getName()));
    }

    /** Completes when it has ended. */
    CompletableFuture<Void> ended() {
        return end.copy();
    }

    /** It stops the application itself, and must not be interrupted in that. */
    void stops() {
        interrupt.stop();
    }

    /**
     * It is not interrupted any more. On its own thread.
     *
     * @param failure what it has thrown
     * @param thrown what its caller gets of that
     */
    void end(@Nullable Throwable failure, @Nullable Throwable thrown) {
        interrupt.end(failure, thrown);
        end.complete(null);
    }
}
