package io.conclave.consensus.ensemble;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.member.MemberLoop;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The thread of a member that is alone and never waits for a disk, which it shares with other work: that of the
 * server's connections, say. So what a connection proposes takes effect without a change of threads.
 */
final class SharedThread implements MemberThread {
    /** How many turns in a row before other work of the thread gets its turn. */
    private static final int MAX_TURNS = 16;

    private final LogOptions options;
    private final Executor thread;

    /** Set by a thread that puts something in, taken back before a turn: what comes during a turn is seen after it. */
    private final AtomicBoolean isScheduled = new AtomicBoolean();

    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
    private volatile @Nullable MemberLoop member;
    private volatile @Nullable Thread running;

    /** When the timer fires that was set last; on the thread only. */
    private long timedForMs = Long.MAX_VALUE;

    /** @param thread runs one task at a time, until the member has ended */
    SharedThread(LogOptions options, Executor thread) {
        this.options = options;
        this.thread = thread;
    }

    @Override
    public void wake() {
        MemberLoop begun = member;
        if (begun != null && !begun.hasEnded() && isScheduled.compareAndSet(false, true)) {
            executeUnlessEnded(() -> run(begun));
        }
    }

    @Override
    public void execute(Runnable action) {
        actions.add(action);
        wake();
    }

    @Override
    public void begin(MemberLoop beginning, Runnable first) {
        thread.execute(() -> {
            onThread(first);
            member = beginning;
            wake();
        });
    }

    private void run(MemberLoop begun) {
        onThread(() -> {
            isScheduled.set(false);
            for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
                action.run();
            }
            int turns = 0;
            while (begun.turn()) {
                turns++;
                if (turns == MAX_TURNS) {
                    wake();
                    return;
                }
            }
            wakeForNextTurn(begun);
        });
    }

    /** The thread outlasts the member; one that is gone has no turns to take. */
    private void executeUnlessEnded(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException e) {
            MemberLoop begun = member;
            if (begun == null || !begun.hasEnded()) {
                throw e;
            }
        }
    }

    private void onThread(Runnable task) {
        running = Thread.currentThread();
        try {
            task.run();
        } finally {
            running = null;
        }
    }

    /** One timer at a time; one that comes too early just costs a turn. */
    private void wakeForNextTurn(MemberLoop begun) {
        long dueMs = begun.nextTurnMs();
        long pauseMs = dueMs - options.monotonicMs().getAsLong();
        if (pauseMs <= 0 && dueMs < Long.MAX_VALUE) {
            wake();
        } else if (dueMs < timedForMs) {
            timedForMs = dueMs;
            options.delayed()
                    .runAfter(
                            pauseMs,
                            () -> executeUnlessEnded(() -> {
                                timedForMs = Long.MAX_VALUE;
                                wake();
                            }));
        }
    }

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == running;
    }
}
