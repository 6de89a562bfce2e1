package io.conclave.connection;

import java.util.concurrent.atomic.AtomicInteger;

/** Leases that do not end, of a server that answers at once; counts how often one is touched. */
final class TestLeases implements SessionLeases {
    final AtomicInteger touches = new AtomicInteger();

    @Override
    public Lease of(long sessionId) {
        return () -> {
            touches.incrementAndGet();
            return true;
        };
    }

    @Override
    public boolean answersAtOnce() {
        return true;
    }

    @Override
    public void whenLeaderKnows(Runnable action) {}

    @Override
    public void whenLeaderKnowsSoon(Runnable action) {}
}
