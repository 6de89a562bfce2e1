package io.conclave.connection;

import io.conclave.replica.Step;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the log's thread has for the event loops, in one list that each loop walks along at its own pace. There is one
 * list and not one for each loop so that a batch is there for all of them at once: a loop that catches up before it
 * reads never shows less than what any client of this server has been told. Appended to by the log's thread only.
 */
final class Feed {
    /** One batch or task for all loops, or a task for one of them. Links to the next one as soon as there is one. */
    static final class Entry {
        final List<Step> steps;
        private final @Nullable Loop onlyLoop;
        private final Consumer<Loop> task;
        private volatile @Nullable Entry next;

        private Entry(List<Step> steps, @Nullable Loop onlyLoop, Consumer<Loop> task) {
            this.steps = steps;
            this.onlyLoop = onlyLoop;
            this.task = task;
        }

        void runTask(Loop loop) {
            if (onlyLoop == null || onlyLoop == loop) {
                task.accept(loop);
            }
        }

        @Nullable
        Entry next() {
            return next;
        }
    }

    private volatile Entry last = new Entry(List.of(), null, loop -> {});

    /** The entry behind which a loop begins that has seen everything up to now. */
    Entry last() {
        return last;
    }

    void batch(List<Step> steps) {
        append(new Entry(steps, null, loop -> {}));
    }

    void task(Loop loop, Runnable task) {
        append(new Entry(List.of(), loop, same -> task.run()));
    }

    /** Each loop runs the task when it gets here. */
    void forAll(Consumer<Loop> task) {
        append(new Entry(List.of(), null, task));
    }

    private void append(Entry entry) {
        last.next = entry;
        last = entry;
    }
}
