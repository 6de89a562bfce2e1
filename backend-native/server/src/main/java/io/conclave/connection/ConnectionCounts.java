package io.conclave.connection;

import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Counts connections, in all and for each IP address. From any thread, without blocking. */
final class ConnectionCounts {
    private final ConnectionLimits limits;
    private final AtomicInteger total = new AtomicInteger();
    private final ConcurrentHashMap<InetAddress, Integer> byAddress = new ConcurrentHashMap<>();

    ConnectionCounts(ConnectionLimits limits) {
        this.limits = limits;
    }

    /**
     * Counts a connection in.
     *
     * @param address null for connections that come from inside the JVM, which only the total bounds
     * @return false if it is one too many; then it is not counted
     */
    boolean enter(@Nullable InetAddress address) {
        if (total.incrementAndGet() > limits.maxConnections() && limits.maxConnections() > 0) {
            total.decrementAndGet();
            return false;
        }
        if (address == null) {
            return true;
        }
        int most = limits.maxConnectionsPerAddress() > 0 ? limits.maxConnectionsPerAddress() : Integer.MAX_VALUE;
        boolean[] entered = new boolean[1];
        byAddress.compute(address, (key, count) -> {
            int before = count == null ? 0 : count;
            entered[0] = before < most;
            return entered[0] ? Integer.valueOf(before + 1) : count;
        });
        if (!entered[0]) {
            total.decrementAndGet();
        }
        return entered[0];
    }

    /** Counts a connection out that was counted in. */
    void leave(@Nullable InetAddress address) {
        total.decrementAndGet();
        if (address != null) {
            byAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
        }
    }

    int total() {
        return total.get();
    }
}
