package io.conclave.spring.integration;

import io.conclave.error.GrantLostException;
import io.conclave.error.NotConnectedException;
import io.conclave.error.SessionGoneException;
import io.conclave.locks.DistributedLock;
import io.conclave.time.TimeSource;
import java.util.ConcurrentModificationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock of one key, as users of a registry know locks: a wait outlasts a lost session, a try ends in its time with
 * false, and the unlock of a lock that was lost is a {@link ConcurrentModificationException}.
 */
final class RegistryLock implements Lock {
    private static final Logger LOG = LoggerFactory.getLogger(RegistryLock.class);

    private final DistributedLock lock;
    private final Lock view;
    private final TimeSource time;
    private final Consumer<RegistryLock> onUse;
    private final AtomicInteger users = new AtomicInteger(); // holds, and threads that are at it
    private final ConcurrentMap<Thread, Integer> holds = new ConcurrentHashMap<>(); // each touched by its thread alone
    private volatile long lastUsedNanos;

    /** @param onUse called when somebody is about to use it */
    RegistryLock(DistributedLock lock, TimeSource time, Consumer<RegistryLock> onUse) {
        this.lock = lock;
        this.view = lock.asLock();
        this.time = time;
        this.onUse = onUse;
        touch();
    }

    /** Its path, as text. */
    String path() {
        return lock.path().toString();
    }

    /** It was asked for, or used, just now. */
    void touch() {
        lastUsedNanos = time.monotonicNanos();
    }

    /** How long it was not asked for nor used. */
    long unusedNanos() {
        return time.monotonicNanos() - lastUsedNanos;
    }

    /** Whether a thread of this process holds it or waits for it. */
    boolean isInUse() {
        return users.get() > 0;
    }

    /** One way to get the lock. */
    private interface Attempt {
        boolean isTaken() throws InterruptedException;
    }

    /** Makes the attempt as a user of the lock, and stays one if it gets it. */
    private boolean attempt(Attempt attempt) throws InterruptedException {
        users.incrementAndGet();
        onUse.accept(this);
        boolean isTaken = false;
        try {
            isTaken = attempt.isTaken();
        } finally {
            if (!isTaken) {
                users.decrementAndGet();
            }
            touch();
        }
        if (isTaken) {
            holds.merge(Thread.currentThread(), 1, Integer::sum);
        }
        return isTaken;
    }

    /** Waits for the lock, in line again if the place in it was lost: with the session, or by an operator. */
    private boolean untilTaken(Attempt attempt) throws InterruptedException {
        while (true) {
            try {
                return attempt.isTaken();
            } catch (SessionGoneException e) {
                LOG.debug("{}: waiting again with the next session", lock.path(), e);
            } catch (GrantLostException e) {
                refuseReentry(e);
                LOG.debug("{}: waiting again at the end of the line", lock.path(), e);
            }
        }
    }

    /** A thread that had the lock and enters again must know that it has lost it. */
    private void refuseReentry(GrantLostException cause) {
        if (holds.containsKey(Thread.currentThread())) {
            throw lost(cause);
        }
    }

    @Override
    public void lock() {
        try {
            attempt(() -> untilTaken(() -> {
                view.lock();
                return true;
            }));
        } catch (InterruptedException e) {
            throw new AssertionError("lock() is not interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        attempt(() -> untilTaken(() -> {
            view.lockInterruptibly();
            return true;
        }));
    }

    @Override
    public boolean tryLock() {
        try {
            return attempt(() -> ifAnswered(view::tryLock));
        } catch (InterruptedException e) {
            throw new AssertionError("tryLock() is not interrupted", e);
        }
    }

    private boolean ifAnswered(Attempt attempt) throws InterruptedException {
        try {
            return attempt.isTaken();
        } catch (NotConnectedException | SessionGoneException e) {
            return false;
        } catch (GrantLostException e) {
            refuseReentry(e);
            return false;
        }
    }

    @Override
    public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
        long start = time.monotonicNanos();
        long limit = unit.toNanos(timeout);
        return attempt(() -> {
            boolean isTaken;
            long left = limit;
            do {
                long atMost = left;
                isTaken = ifAnswered(() -> view.tryLock(atMost, TimeUnit.NANOSECONDS));
                left = limit - (time.monotonicNanos() - start);
            } while (!isTaken && left > 0);
            return isTaken;
        });
    }

    @Override
    public void unlock() {
        try {
            view.unlock();
            leave();
        } catch (GrantLostException e) {
            leave(); // the hold is gone for this thread, too
            throw lost(e);
        }
    }

    private void leave() {
        holds.computeIfPresent(Thread.currentThread(), (thread, depth) -> depth == 1 ? null : depth - 1);
        users.decrementAndGet();
        touch();
    }

    private ConcurrentModificationException lost(GrantLostException cause) {
        return new ConcurrentModificationException(
                "The lock " + lock.path() + " was lost while this thread held it; others may have had it since: "
                        + cause.getMessage(),
                cause);
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions");
    }

    @Override
    public String toString() {
        return "Lock " + lock.path();
    }
}
