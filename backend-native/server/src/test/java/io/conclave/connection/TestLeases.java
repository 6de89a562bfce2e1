package io.conclave.connection;

import java.util.concurrent.atomic.AtomicInteger;

/** Leases that do not end, of a server that answers at once, or never; counts how often one is touched. */
final class TestLeases implements SessionLeases {
    final AtomicInteger touches = new AtomicInteger();

    @Override
    public Lease of(long sessionId) {
        return () -> {
            touches.incrementAndGet();
            return true;
        };
    }

    /** Else pings wait for good. */
    volatile boolean answersAtOnce = true;

    @Override
    public boolean answersAtOnce() {
        return answersAtOnce;
    }

    @Override
    public void whenLeaderKnows(Runnable action) {}

    @Override
    public void whenLeaderKnowsSoon(Runnable action) {}
}
