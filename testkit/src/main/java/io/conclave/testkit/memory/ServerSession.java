package io.conclave.testkit.memory;

import io.conclave.time.TimeSource;
import java.time.Duration;

/** What the store knows of a session: when it was last heard of, and whether it lives. Guarded by the store's lock. */
final class ServerSession {
    final MemoryChange.Caller caller;
    final MemorySession client;
    private final Duration timeout;
    private final TimeSource time;
    private long lastHeardNanos;
    private boolean alive = true;

    ServerSession(MemoryChange.Caller caller, MemorySession client, Duration timeout, TimeSource time) {
        this.caller = caller;
        this.client = client;
        this.timeout = timeout;
        this.time = time;
        this.lastHeardNanos = time.monotonicNanos();
    }

    long id() {
        return caller.sessionId();
    }

    boolean isAlive() {
        return alive;
    }

    void heard() {
        lastHeardNanos = time.monotonicNanos();
    }

    void keep(Duration longer) {
        lastHeardNanos += longer.toNanos();
    }

    void end() {
        alive = false;
    }

    /** How long the store still waits for a sign of life; zero or negative if it has waited long enough. */
    Duration untilExpiry() {
        return timeout.minusNanos(time.monotonicNanos() - lastHeardNanos);
    }
}
