package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The clock moves only where a part of a job, or the test, moves it: what is promised is counted and not measured. */
class LongWorkTest {
    private static final Duration PART = Duration.ofNanos(100_000);
    private static final int PARTS_OF_A_SLICE = (int) LongWork.SLICE.dividedBy(PART);

    private final ManualTimeSource time = new ManualTimeSource();
    private final Queue<Runnable> posted = new ArrayDeque<>();
    private final Queue<Runnable> behindSockets = new ArrayDeque<>();
    private final List<String> done = new ArrayList<>();
    private long activity;
    private final LongWork work = new LongWork(time, posted::add, behindSockets::add, () -> activity);

    /** A job of so many parts, each of which takes a tenth of a slice. */
    private LongWork.Job job(String name, int parts) {
        AtomicInteger left = new AtomicInteger(parts);
        return () -> {
            time.advance(PART);
            done.add(name);
            return left.decrementAndGet() == 0;
        };
    }

    /** As a request of a client. */
    private void ask(String name, int parts) {
        activity++;
        work.add(job(name, parts));
    }

    /** As a loop does that has looked at its sockets. */
    private void runPosted() {
        posted.addAll(behindSockets);
        behindSockets.clear();
        for (Runnable task = posted.poll(); task != null; task = posted.poll()) {
            task.run();
        }
    }

    private int donePartsAfter(Duration pause) {
        int before = done.size();
        time.advance(pause);
        runPosted();
        return done.size() - before;
    }

    @Test
    void othersHaveTheirTurnAfterASliceAndForAsLongAsItTook() {
        activity += 1;
        ask("a", 5 * PARTS_OF_A_SLICE);
        assertEquals(PARTS_OF_A_SLICE, done.size(), "the first slice is done at once");
        for (int slice = 1; slice < 5; slice++) {
            assertEquals(0, donePartsAfter(LongWork.SLICE.minusNanos(1)), "it rests");
            assertEquals(PARTS_OF_A_SLICE, donePartsAfter(Duration.ofNanos(1)));
        }
        assertEquals(0, donePartsAfter(LongWork.SLICE.multipliedBy(10)), "all is done");
    }

    @Test
    void longWorkHasHalfOfTheTimeAtMostHoweverManyAskForIt() {
        activity += 1;
        for (int i = 0; i < 100; i++) {
            ask("a" + i, PARTS_OF_A_SLICE);
        }
        long sinceNanos = time.monotonicNanos();
        int before = done.size();
        for (int i = 0; i < 1_000; i++) {
            activity++; // another client asks again and again
            donePartsAfter(LongWork.SLICE.dividedBy(10));
        }
        Duration passed = Duration.ofNanos(time.monotonicNanos() - sinceNanos);
        Duration worked = PART.multipliedBy(done.size() - before);
        assertEquals(100 * PARTS_OF_A_SLICE, done.size());
        assertTrue(worked.multipliedBy(2).compareTo(passed) <= 0, worked + " of " + passed);
    }

    @Test
    void aLoneReaderWaitsForNothing() {
        ask("a", 5 * PARTS_OF_A_SLICE);
        for (int slice = 1; slice < 5; slice++) {
            assertEquals(slice * PARTS_OF_A_SLICE, done.size());
            assertEquals(PARTS_OF_A_SLICE, donePartsAfter(Duration.ZERO));
        }
        ask("again", 1);
        assertEquals(5 * PARTS_OF_A_SLICE + 1, done.size(), "its next request is not one of others");
    }

    /** The process stood still, or its machine: that was no work, for which others would have to be made up to. */
    @Test
    void theRestIsShortAlsoBehindASliceInWhichTimeHasGoneOnForAnHour() {
        activity += 2;
        AtomicInteger left = new AtomicInteger(2);
        work.add(() -> {
            time.advance(Duration.ofHours(1));
            done.add("a");
            return left.decrementAndGet() == 0;
        });
        assertEquals(1, done.size());
        assertEquals(1, donePartsAfter(LongWork.SLICE.multipliedBy(10)));
    }

    @Test
    void othersAreForgottenWhenTheyHaveBeenQuietForAWhile() {
        activity++;
        ask("a", 2 * PARTS_OF_A_SLICE);
        time.advance(LongWork.QUIET);
        runPosted();
        ask("b", 2 * PARTS_OF_A_SLICE);
        assertEquals(3 * PARTS_OF_A_SLICE, done.size());
        assertEquals(PARTS_OF_A_SLICE, donePartsAfter(Duration.ZERO));
    }

    @Test
    void aJobThatComesDuringARestWaitsForItsEnd() {
        activity++;
        ask("a", 5);
        ask("b", 5);
        assertEquals(5, done.size());
        assertEquals(0, donePartsAfter(PART.multipliedBy(4)));
        assertEquals(5, donePartsAfter(PART));
    }

    @Test
    void aFewJobsTakeTurnsAndTheOthersHaveNotBegun() {
        for (int i = 0; i < LongWork.MOST_BEGUN + 1; i++) {
            ask(Integer.toString(i), 3 * PARTS_OF_A_SLICE);
        }
        while (!posted.isEmpty() || donePartsAfter(LongWork.SLICE) > 0) {
            runPosted();
        }
        List<String> slices = new ArrayList<>();
        for (int i = 0; i < done.size(); i += PARTS_OF_A_SLICE) {
            slices.add(done.get(i));
        }
        assertEquals(List.of("0", "0", "1", "2", "3", "0", "1", "2", "3", "4", "1", "2", "3", "4", "4"), slices);
    }

    @Test
    void aJobThatFailsDoesNotHoldUpTheNextOne() {
        activity += 2;
        work.add(() -> {
            throw new IllegalStateException("planted");
        });
        ask("a", 1);
        donePartsAfter(LongWork.SLICE);
        assertEquals(List.of("a"), done);
    }

    /** Many short lists of watches come at once when a server has ended. */
    @Test
    void aSliceHasAsManyShortJobsAsThereIsTimeFor() {
        activity++;
        ask("first", PARTS_OF_A_SLICE);
        for (int i = 0; i < 2 * PARTS_OF_A_SLICE; i++) {
            ask("short", 1);
        }
        assertEquals(PARTS_OF_A_SLICE, donePartsAfter(LongWork.SLICE));
        assertEquals(PARTS_OF_A_SLICE, donePartsAfter(LongWork.SLICE));
    }

    /** As the next request of a pipeline does, which is read when the one before it is answered. */
    @Test
    void whatAJobAddsWhenItIsDoneIsPartOfTheSameSlice() {
        activity += 2;
        work.add(() -> {
            time.advance(PART);
            ask("next", PARTS_OF_A_SLICE);
            return true;
        });
        assertEquals(PARTS_OF_A_SLICE - 1, done.size());
        assertEquals(0, donePartsAfter(LongWork.SLICE.minusNanos(1)));
        assertEquals(1, donePartsAfter(Duration.ofNanos(1)));
    }
}
