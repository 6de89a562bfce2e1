package io.conclave.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands tasks from the event loop to the session's dispatcher. All tasks of one read of the socket travel as one,
 * because a hop between threads costs more than the work. Owned by the session's event loop.
 */
final class Deliveries {
    private static final Logger LOG = LoggerFactory.getLogger(Deliveries.class);

    private final Executor dispatcher;
    private @Nullable Batch gathering;

    Deliveries(Executor dispatcher) {
        this.dispatcher = dispatcher;
    }

    /** Hands over a task behind all others. */
    void add(Runnable task) {
        Batch batch = gathering;
        if (batch == null) {
            dispatcher.execute(task);
        } else {
            batch.tasks.add(task);
        }
    }

    /** Begins to gather tasks. */
    void gather() {
        if (gathering == null) {
            gathering = new Batch();
        }
    }

    /** Hands over the gathered tasks. */
    void flush() {
        Batch batch = gathering;
        gathering = null;
        if (batch != null && !batch.tasks.isEmpty()) {
            dispatcher.execute(batch.tasks.size() == 1 ? batch.tasks.get(0) : batch);
        }
    }

    private static final class Batch implements Runnable {
        final List<Runnable> tasks = new ArrayList<>();
        private volatile @Nullable Runnable current;

        @Override
        public void run() {
            for (Runnable task : tasks) {
                current = task;
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    LOG.error("Callback {} failed", task, e);
                }
            }
        }

        /** Names the task under way, for the warning about one that does not return. */
        @Override
        public String toString() {
            return String.valueOf(current);
        }
    }
}
