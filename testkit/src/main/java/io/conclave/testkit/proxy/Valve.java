package io.conclave.testkit.proxy;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Lets the bytes of one direction through, late or not at all. */
final class Valve {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // All below: @GuardedBy("lock").
    private boolean isShut;
    private boolean losesNext;
    private Duration delay = Duration.ZERO;

    void shut() {
        set(true);
    }

    void open() {
        set(false);
    }

    private void set(boolean shut) {
        lock.lock();
        try {
            isShut = shut;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void delay(Duration newDelay) {
        lock.lock();
        try {
            delay = newDelay;
        } finally {
            lock.unlock();
        }
    }

    /** The next bytes are to be lost. */
    void loseNext() {
        lock.lock();
        try {
            losesNext = true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the bytes that have just passed are to be lost; so it is once. */
    boolean losesThis() {
        lock.lock();
        try {
            boolean loses = losesNext;
            losesNext = false;
            return loses;
        } finally {
            lock.unlock();
        }
    }

    /** Opens it, and ends delay and loss. */
    void restore() {
        lock.lock();
        try {
            delay = Duration.ZERO;
            losesNext = false;
        } finally {
            lock.unlock();
        }
        open();
    }

    /** Makes the waiters check again whether to give up. */
    void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Blocks while the valve is shut and for its delay, unless there is a reason to give up. */
    void pass(TimeSource time, BooleanSupplier givesUp) throws InterruptedException {
        Duration wait;
        lock.lock();
        try {
            while (isShut && !givesUp.getAsBoolean()) {
                changed.await();
            }
            wait = delay;
        } finally {
            lock.unlock();
        }
        if (!wait.isZero()) {
            CountDownLatch over = new CountDownLatch(1);
            time.schedule(wait, over::countDown);
            over.await();
        }
    }
}
