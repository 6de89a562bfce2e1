package io.conclave.consensus.store;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/** Runs slow work elsewhere and brings its outcome back to the member's thread, which owns all else here. */
final class Background {

    /** Work for another thread. */
    interface Task<T> {
        T run() throws IOException;
    }

    private final Executor workers;
    private final Executor memberThread;
    private int running;

    /** Read by the workers, which end early then. */
    private volatile boolean stopping;

    Background(Executor workers, Executor memberThread) {
        this.workers = workers;
        this.memberThread = memberThread;
    }

    /** Whether work shall end; any thread. */
    boolean isStopping() {
        return stopping;
    }

    boolean isRunning() {
        return running > 0;
    }

    /** Asks all work to end. */
    void stop() {
        stopping = true;
    }

    /** Runs the task; what comes of it reaches one of the two consumers on the member's thread. */
    <T> void run(Task<T> task, Consumer<T> done, Consumer<Throwable> failed) {
        running++;
        try {
            workers.execute(() -> {
                Runnable outcome = outcomeOf(task, done, failed);
                memberThread.execute(() -> {
                    running--;
                    outcome.run();
                });
            });
        } catch (RejectedExecutionException e) {
            running--;
            failed.accept(e);
        }
    }

    private static <T> Runnable outcomeOf(Task<T> task, Consumer<T> done, Consumer<Throwable> failed) {
        try {
            T result = task.run();
            return () -> done.accept(result);
        } catch (IOException | RuntimeException | Error e) {
            return () -> failed.accept(e);
        }
    }
}
