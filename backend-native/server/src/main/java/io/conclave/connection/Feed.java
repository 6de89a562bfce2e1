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
        private Consumer<Loop> task;
        private final int walkers;
        private final AtomicInteger left = new AtomicInteger();
        private volatile @Nullable Entry next;

        private Entry(int walkers, List<Step> steps, @Nullable Loop onlyLoop, Consumer<Loop> task) {
            this.walkers = walkers;
            this.steps = steps;
            this.onlyLoop = onlyLoop;
            this.task = task;
        }

        /** What is for one loop, which may hold a request of 1 MB, is kept no longer for the others that come by. */
        void runTask(Loop loop) {
            if (onlyLoop == null) {
                task.accept(loop);
            } else if (onlyLoop == loop) {
                Consumer<Loop> toDo = task;
                task = Feed::done;
                toDo.accept(loop);
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

    /** So many tasks may be ahead of a loop that sleeps, which has nothing to do with them. */
    static final int MOST_TASKS_AHEAD = 1000;

    private final int walkers;
    private final Runnable wakeAll;
    private final Entry first;
    private Entry last;
    private int tasksAhead;

    /**
     * An empty feed.
     *
     * @param walkers how many loops walk along, each from the first entry on
     * @param wakeAll has all of them catch up soon
     */
    Feed(int walkers, Runnable wakeAll) {
        this.walkers = walkers;
        this.wakeAll = wakeAll;
        this.first = new Entry(walkers, List.of(), null, loop -> {});
        this.last = first;
    }

    /** Where every loop begins. */
    Entry first() {
        return first;
    }

    private static void done(Loop loop) {}

    void batch(List<Step> steps) {
        append(new Entry(walkers, steps, null, loop -> {}));
    }

    void task(Loop loop, Runnable task) {
        append(new Entry(walkers, List.of(), loop, same -> task.run()));
        if (++tasksAhead > MOST_TASKS_AHEAD) {
            tasksAhead = 0;
            wakeAll.run();
        }
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
