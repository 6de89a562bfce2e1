package io.conclave.consensus.ensemble;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.member.MemberLoop;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread for a member that is alone: it sleeps until something is put into the queue, or it is time for a turn. */
final class OwnThread implements MemberThread {
    private final LogOptions options;
    private @Nullable Thread thread;

    /** Set by a thread that puts something in, taken back before a turn: what comes during a turn is seen after it. */
    private volatile boolean signalled;

    private volatile @Nullable Thread parked;

    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();

    /** Set by the timer, taken back by the member's thread, which then may set the next. */
    private volatile boolean timerFired;

    /** When the timer fires that was set last; the member's thread only. */
    private long timedForMs = Long.MAX_VALUE;

    OwnThread(LogOptions options) {
        this.options = options;
    }

    @Override
    public void wake() {
        if (!signalled) {
            signalled = true;
        }
        Thread sleeper = parked;
        if (sleeper != null) {
            parked = null;
            LockSupport.unpark(sleeper);
        }
    }

    @Override
    public void execute(Runnable action) {
        actions.add(action);
        wake();
    }

    @Override
    public void begin(MemberLoop member, Runnable first) {
        Thread made = options.threadFactory().newThread(() -> run(member, first));
        thread = made;
        made.start();
    }

    private void run(MemberLoop member, Runnable first) {
        first.run();
        while (!member.hasEnded()) {
            signalled = false;
            for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
                action.run();
            }
            if (!member.turn()) {
                park(member);
            }
        }
    }

    private void park(MemberLoop member) {
        if (timerFired) {
            timerFired = false;
            timedForMs = Long.MAX_VALUE;
        }
        long dueMs = member.nextTurnMs();
        long pauseMs = dueMs - options.monotonicMs().getAsLong();
        wakeForNextTurn(dueMs, pauseMs);
        parked = Thread.currentThread();
        if (!signalled && pauseMs > 0 && !member.hasEnded()) {
            LockSupport.park(this);
        }
        parked = null;
    }

    /** One timer at a time; one that comes too early just costs a turn. */
    private void wakeForNextTurn(long dueMs, long pauseMs) {
        if (pauseMs > 0 && dueMs < timedForMs) {
            timedForMs = dueMs;
            options.delayed().runAfter(pauseMs, () -> {
                timerFired = true;
                wake();
            });
        }
    }

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }
}
