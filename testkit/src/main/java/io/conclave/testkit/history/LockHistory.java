package io.conclave.testkit.history;

import io.conclave.grant.FencedGrant;
import io.conclave.grant.FencingToken;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Records what happens to the contenders for one exclusive lock, for {@link LockHistoryChecker}. Thread-safe; nothing
 * blocks for long.
 *
 * <p>To keep the record honest, call {@link #granted} right after the grant is given, and {@link #released} right
 * before it is given back: what lies between is the time in which the holder believed to be alone.
 */
public final class LockHistory {
    private final TimeSource time;
    private final Object lock = new Object();
    /** {@code @GuardedBy("lock")}. */
    private final List<LockEvent> events = new ArrayList<>();

    /** An empty history on this clock. All contenders must share it. */
    public LockHistory(TimeSource time) {
        this.time = Objects.requireNonNull(time, "time");
    }

    /** A contender asks for the lock. */
    public void requested(String contender) {
        add(LockEvent.Kind.REQUESTED, contender, LockEvent.NO_TOKEN, 0);
    }

    /** A contender's place in the line is known: the creation zxid of its znode. */
    public void enqueued(String contender, long creationZxid) {
        add(LockEvent.Kind.ENQUEUED, contender, new FencingToken(0, creationZxid), 0);
    }

    /** A contender has the lock. A grant that is over already when this is called counts as never held. */
    public void granted(String contender, FencedGrant grant) {
        synchronized (lock) {
            // The clock first: a pause in between makes the hold look shorter than it was, never longer.
            long now = time.monotonicNanos();
            long ends = now + grant.remaining().toNanos();
            events.add(new LockEvent(LockEvent.Kind.GRANTED, contender, now, grant.token(), ends));
        }
    }

    /**
     * A contender has the lock.
     *
     * @param remaining how long the grant surely lasts from now
     */
    public void granted(String contender, FencingToken token, Duration remaining) {
        addUntil(LockEvent.Kind.GRANTED, contender, token, remaining);
    }

    /**
     * The holder's grant now surely lasts this long. Without this a grant counts as held no longer than it was promised
     * when it was given.
     */
    public void extended(String contender, Duration remaining) {
        addUntil(LockEvent.Kind.EXTENDED, contender, LockEvent.NO_TOKEN, remaining);
    }

    /** A contender goes without having got the lock. */
    public void abandoned(String contender) {
        add(LockEvent.Kind.ABANDONED, contender, LockEvent.NO_TOKEN, 0);
    }

    /** The holder is about to give the lock back. */
    public void released(String contender) {
        add(LockEvent.Kind.RELEASED, contender, LockEvent.NO_TOKEN, 0);
    }

    /** The holder knows that it has lost the lock. */
    public void lost(String contender) {
        add(LockEvent.Kind.LOST, contender, LockEvent.NO_TOKEN, 0);
    }

    /** What was recorded so far, in the order of recording. */
    public List<LockEvent> events() {
        synchronized (lock) {
            return List.copyOf(events);
        }
    }

    private void add(LockEvent.Kind kind, String contender, FencingToken token, long endsNanos) {
        synchronized (lock) {
            events.add(new LockEvent(kind, contender, time.monotonicNanos(), token, endsNanos));
        }
    }

    private void addUntil(LockEvent.Kind kind, String contender, FencingToken token, Duration remaining) {
        synchronized (lock) {
            long now = time.monotonicNanos();
            events.add(new LockEvent(kind, contender, now, token, now + remaining.toNanos()));
        }
    }
}
