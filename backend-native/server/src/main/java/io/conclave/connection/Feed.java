package io.conclave.connection;

import io.conclave.replica.Step;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the log's thread has for the event loops, in one list that each loop walks along at its own pace. There is one
 * list and not one for each loop so that a batch is there for all of them at once: a loop that catches up before it
 * reads never shows less than what any client of this server has seen. Appended to by the log's thread only.
 *
 * <p>An entry that every loop has left forgets its successor. Else one such entry that has grown old would keep all
 * that came after it from a collection of the young: most of a busy server's time went there.
 */
final class Feed {
    /** One batch or task for all loops, or a task for one of them. Links to the next one as soon as there is one. */
    static final class Entry {
        final List<Step> steps;
        private final @Nullable Loop onlyLoop;
        private final Consumer<Loop> task;
        private final int walkers;
        private final AtomicInteger left = new AtomicInteger();
        private volatile @Nullable Entry next;

        private Entry(int walkers, List<Step> steps, @Nullable Loop onlyLoop, Consumer<Loop> task) {
            this.walkers = walkers;
            this.steps = steps;
            this.onlyLoop = onlyLoop;
            this.task = task;
        }

        void runTask(Loop loop) {
            if (onlyLoop == null || onlyLoop == loop) {
                task.accept(loop);
            }
        }

        boolean hasNext() {
            return next != null;
        }

        /** Goes on to the next entry, if there is one; each walker leaves an entry once. */
        @Nullable
        Entry leave() {
            Entry following = next;
            if (following != null && left.incrementAndGet() == walkers) {
                next = null;
            }
            return following;
        }
    }

    private final int walkers;
    private final Entry first;
    private Entry last;

    /**
     * An empty feed.
     *
     * @param walkers how many loops walk along, each from the first entry on
     */
    Feed(int walkers) {
        this.walkers = walkers;
        this.first = new Entry(walkers, List.of(), null, loop -> {});
        this.last = first;
    }

    /** Where every loop begins. */
    Entry first() {
        return first;
    }

    void batch(List<Step> steps) {
        append(new Entry(walkers, steps, null, loop -> {}));
    }

    void task(Loop loop, Runnable task) {
        append(new Entry(walkers, List.of(), loop, same -> task.run()));
    }

    /** Each loop runs the task when it gets here. */
    void forAll(Consumer<Loop> task) {
        append(new Entry(walkers, List.of(), null, task));
    }

    private void append(Entry entry) {
        last.next = entry;
        last = entry;
    }
}
