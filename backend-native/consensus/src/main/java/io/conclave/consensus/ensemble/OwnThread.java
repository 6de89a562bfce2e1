package io.conclave.consensus.ensemble;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread for a member that is alone: it sleeps until something is put into the queue, or it is time for a turn. */
final class OwnThread implements MemberThread {
    private final LogOptions options;
    private @Nullable Thread thread;

    /** Set by whoever puts something in, taken back before a turn: what comes during a turn is seen after it. */
    private volatile boolean signalled;

    private volatile @Nullable Thread parked;

    OwnThread(LogOptions options) {
        this.options = options;
    }

    @Override
    public PeerLinks links() {
        return PeerLinks.NONE;
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
    public void begin(MemberLoop member, Runnable first) {
        Thread made = options.threadFactory().newThread(() -> run(member, first));
        thread = made;
        made.start();
    }

    private void run(MemberLoop member, Runnable first) {
        first.run();
        while (!member.hasEnded()) {
            signalled = false;
            if (!member.turn()) {
                park(member);
            }
        }
    }

    private void park(MemberLoop member) {
        long pauseMs = member.nextTurnMs() - options.monotonicMs().getAsLong();
        parked = Thread.currentThread();
        if (!signalled && pauseMs > 0 && !member.hasEnded()) {
            LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(pauseMs));
        }
        parked = null;
    }

    @Override
    public void open() {}

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    @Override
    public void close() {}
}
