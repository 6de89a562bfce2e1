package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A distributed lock as java.util.concurrent knows it.
 *
 * <p>Each thread has its own hold in the map, touched by that thread alone, so nothing here needs a lock.
 */
final class ReentrantLockView implements Lock {
    private final ListedLock<?> lock;
    private final ConcurrentMap<Thread, Hold> holds = new ConcurrentHashMap<>();

    private static final class Hold {
        final LockGrant grant;
        int depth = 1;

        Hold(LockGrant grant) {
            this.grant = grant;
        }
    }

    ReentrantLockView(ListedLock<?> lock) {
        this.lock = lock;
    }

    @Override
    public void lock() {
        if (!reenter()) {
            hold(lock.acquireUninterruptibly());
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        refuseIfInterrupted();
        if (!reenter()) {
            hold(lock.acquire());
        }
    }

    /** One round trip, and never longer than the try timeout; as with every lock, interrupts do not end it. */
    @Override
    public boolean tryLock() {
        if (reenter()) {
            return true;
        }
        Optional<? extends LockGrant> grant = lock.tryAcquireUninterruptibly();
        grant.ifPresent(this::hold);
        return grant.isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        refuseIfInterrupted();
        if (reenter()) {
            return true;
        }
        if (time <= 0) { // no wait, but a lock that is free is taken
            Optional<? extends LockGrant> grant = lock.tryAcquire();
            grant.ifPresent(this::hold);
            return grant.isPresent();
        }
        try {
            hold(lock.acquire(Duration.ofNanos(unit.toNanos(time))));
            return true;
        } catch (AcquireTimeoutException e) {
            return false;
        }
    }

    /**
     * Gives one entry back; the last one releases the lock.
     *
     * @throws IllegalMonitorStateException if the thread does not hold the lock
     * @throws io.conclave.error.GrantLostException if the lock was lost while it was held; the entry is given back
     *     anyway
     */
    @Override
    public void unlock() {
        Hold hold = own();
        if (hold == null) {
            throw new IllegalMonitorStateException(
                    "The thread " + Thread.currentThread().getName() + " does not hold " + lock);
        }
        try {
            hold.grant.ensureHeld();
        } finally {
            hold.depth--;
            if (hold.depth == 0) {
                holds.remove(Thread.currentThread());
                hold.grant.close();
            }
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions");
    }

    /** Whether this thread held the lock already, and now holds it once more. */
    private boolean reenter() {
        Hold hold = own();
        if (hold == null) {
            return false;
        }
        hold.grant.ensureHeld();
        hold.depth++;
        return true;
    }

    private @Nullable Hold own() {
        return holds.get(Thread.currentThread());
    }

    private void hold(LockGrant grant) {
        holds.put(Thread.currentThread(), new Hold(grant));
    }

    private static void refuseIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before waiting for a lock");
        }
    }

    @Override
    public String toString() {
        return "Lock view of " + lock;
    }
}
