package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What takes long on one event loop: long reads, lists of watches, and what connections leave behind. All of it is done
 * in slices of about a millisecond, one at a time for the whole loop, and the loop serves other clients in between.
 * While there are such clients, a rest as long as the slice follows each slice: so long work takes half of a loop's
 * time at most, however many connections ask for it. Where there are none, the next slice follows as soon as the loop
 * has looked at its sockets. A few jobs take turns, slice by slice; the others have not begun, and so take no memory.
 * Belongs to the loop.
 */
final class LongWork {
    static final Duration SLICE = Duration.ofMillis(1);

    /** Other clients are there until they have asked for nothing, and changed nothing, for so long. */
    static final Duration QUIET = Duration.ofMillis(100);

    /** A slice that took longer was not work: the process, or its machine, stood still. */
    static final Duration LONGEST_REST = SLICE.multipliedBy(10);

    private static final Logger LOG = LoggerFactory.getLogger(LongWork.class);
    private static final long SLICE_NANOS = SLICE.toNanos();

    /** A long answer that has begun may take some MB. */
    static final int MOST_BEGUN = 4;

    /** Work that is done part by part. */
    interface Job {
        /** Does a part of it, which takes much less than a slice; whether that was the last part. */
        boolean advance();
    }

    private final TimeSource time;
    private final Executor onLoop;
    private final Executor behindSockets;
    private final LongSupplier requestsAndChanges;

    private final Queue<Job> line = new ArrayDeque<>();
    private final Queue<Job> begun = new ArrayDeque<>();

    /** A slice is being done, or will be when the rest before it is over. */
    private boolean underWay;

    private long restUntilNanos;

    /** Each was a request, which is not one of others. */
    private long jobs;

    private long activity;
    private long activeUntilNanos;

    /**
     * Nothing to do yet.
     *
     * @param onLoop runs a task soon, on the loop
     * @param behindSockets runs a task on the loop when that has looked at its sockets again; called on the loop
     * @param requestsAndChanges how many requests the loop has read, with the number of changes that it has seen; what
     *     counts is that it is another one whenever a client was active
     */
    LongWork(TimeSource time, Executor onLoop, Executor behindSockets, LongSupplier requestsAndChanges) {
        this.time = time;
        this.onLoop = onLoop;
        this.behindSockets = behindSockets;
        this.requestsAndChanges = requestsAndChanges;
        this.restUntilNanos = time.monotonicNanos();
        this.activeUntilNanos = restUntilNanos;
    }

    /** Does the job's first slice now, unless others are in line or the loop rests; the others follow by themselves. */
    void add(Job job) {
        jobs++;
        line.add(job);
        if (underWay) {
            return;
        }
        underWay = true;
        long restNanos = restUntilNanos - time.monotonicNanos();
        if (restNanos > 0) {
            goOnAfter(restNanos);
        } else {
            doSlice();
        }
    }

    private void goOnAfter(long restNanos) {
        if (restNanos > 0) {
            time.schedule(Duration.ofNanos(restNanos), () -> onLoop.execute(this::doSlice));
        } else {
            behindSockets.execute(this::doSlice);
        }
    }

    private void doSlice() {
        long sinceNanos = time.monotonicNanos();
        do {
            work(sinceNanos);
        } while (isWaitedFor() && time.monotonicNanos() - sinceNanos < SLICE_NANOS);
        long nowNanos = time.monotonicNanos();
        long restNanos = areOthersActive(nowNanos) ? Math.min(nowNanos - sinceNanos, LONGEST_REST.toNanos()) : 0;
        restUntilNanos = nowNanos + restNanos;
        if (isWaitedFor()) {
            goOnAfter(restNanos);
        } else {
            underWay = false;
        }
    }

    private boolean isWaitedFor() {
        return !begun.isEmpty() || !line.isEmpty();
    }

    /** Works for the next job until it is done, or the slice is over. */
    private void work(long sinceNanos) {
        while (begun.size() < MOST_BEGUN && !line.isEmpty()) {
            begun.add(line.remove());
        }
        Job job = begun.remove();
        if (!isDone(job, sinceNanos)) {
            begun.add(job);
        }
    }

    private boolean isDone(Job job, long sinceNanos) {
        try {
            boolean done = job.advance();
            while (!done && time.monotonicNanos() - sinceNanos < SLICE_NANOS) {
                done = job.advance();
            }
            return done;
        } catch (RuntimeException | Error e) {
            LOG.error("{} cannot go on", job, e);
            return true;
        }
    }

    private boolean areOthersActive(long nowNanos) {
        long newActivity = requestsAndChanges.getAsLong() - jobs;
        if (newActivity != activity) {
            activity = newActivity;
            activeUntilNanos = nowNanos + QUIET.toNanos();
        }
        return activeUntilNanos - nowNanos > 0;
    }
}
