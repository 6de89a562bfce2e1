package io.conclave.spring.boot;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One run of a method that only the leader runs. It is told once at most that the leadership ends, by an interrupt, and
 * only while it runs.
 *
 * <p>A thread has one flag, and runs may be within one another: what the inner one sees or clears was meant for the
 * outer one as well. So the outer one is interrupted again when the inner one ends, unless the interrupt comes out of
 * that as an exception. The runs of a thread share a lock, which guards their state, and under which nothing blocks.
 */
final class LeaderTick {
    private static final ThreadLocal<@Nullable LeaderTick> INNERMOST = new ThreadLocal<>();

    private final Thread thread = Thread.currentThread();
    private final @Nullable LeaderTick outer = INNERMOST.get();
    private final Object lock = outer == null ? new Object() : outer.lock;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private boolean told; // guarded by lock
    private boolean sent; // guarded by lock: the thread's flag was set for this run
    private boolean ended; // guarded by lock
    private boolean stops; // guarded by lock

    private LeaderTick() {}

    /** A run on this thread, within those that have begun on it. */
    static LeaderTick begin() {
        LeaderTick begun = new LeaderTick();
        INNERMOST.set(begun);
        return begun;
    }

    /** The leadership ends. Any thread. */
    void interrupt() {
        synchronized (lock) {
            if (!ended && !told) {
                told = true;
                send();
            }
        }
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
        synchronized (lock) {
            stops = true;
        }
    }

    /** With the lock held. A flag that others have set stays theirs. */
    private void send() {
        if (!stops && !thread.isInterrupted()) {
            sent = true;
            thread.interrupt();
        }
    }

    /**
     * It is not interrupted any more. Clears the flag if the interrupt was sent and not seen. On its own thread.
     *
     * @param failure what it has thrown; an InterruptedException has seen the interrupt, and a flag is another one then
     * @param thrown what its caller gets of that
     */
    void end(@Nullable Throwable failure, @Nullable Throwable thrown) {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
        synchronized (lock) {
            ended = true;
            if (sent && !(failure instanceof InterruptedException)) {
                Thread.interrupted();
            }
            if (outer != null && outer.told && !(thrown instanceof InterruptedException)) {
                outer.send();
            }
        }
        end.complete(null);
    }
}
