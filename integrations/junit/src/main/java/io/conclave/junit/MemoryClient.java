package io.conclave.junit;

import io.conclave.spi.BackendSession;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One coordinator as the store in memory sees it: its present session, and a clock that is an object of its own. By
 * that object the store tells processes from each other.
 */
final class MemoryClient implements TimeSource {
    private final TimeSource common;
    private final AtomicReference<@Nullable BackendSession> session = new AtomicReference<>();

    MemoryClient(TimeSource common) {
        this.common = common;
    }

    /** Remembers a session that is being opened. */
    BackendSession opens(BackendSession opened) {
        session.set(opened);
        return opened;
    }

    /** The id of the present session; 0 before the first one. */
    long sessionId() {
        BackendSession present = session.get();
        return present == null ? 0 : present.id();
    }

    @Override
    public long monotonicNanos() {
        return common.monotonicNanos();
    }

    @Override
    public long wallMillis() {
        return common.wallMillis();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return common.schedule(delay, task);
    }
}
