package io.conclave.connection;

import io.conclave.consensus.HostNetwork;
import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts connections, in all, for each IP address, and for each network of IPv6 that one host may have for itself. From
 * any thread, without blocking.
 */
final class ConnectionCounts {
    private final ConnectionLimits limits;
    private final AtomicInteger total = new AtomicInteger();
    private final ConcurrentHashMap<InetAddress, Integer> byAddress = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<InetAddress, Integer> byNetwork = new ConcurrentHashMap<>();

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
        if (!enter(byAddress, address, limits.maxConnectionsPerAddress())) {
            total.decrementAndGet();
            return false;
        }
        if (HostNetwork.hasManyAddresses(address)
                && !enter(byNetwork, HostNetwork.of(address), limits.maxConnectionsPerNetwork())) {
            leave(byAddress, address);
            total.decrementAndGet();
            return false;
        }
        return true;
    }

    /** @param most 0 for no bound */
    private static boolean enter(ConcurrentHashMap<InetAddress, Integer> counts, InetAddress key, long most) {
        boolean[] entered = new boolean[1];
        counts.compute(key, (same, count) -> {
            int before = count == null ? 0 : count;
            entered[0] = most == 0 || before < most;
            return entered[0] ? Integer.valueOf(before + 1) : count;
        });
        return entered[0];
    }

    /** Counts a connection out that was counted in. */
    void leave(@Nullable InetAddress address) {
        total.decrementAndGet();
        if (address != null) {
            leave(byAddress, address);
            if (HostNetwork.hasManyAddresses(address)) {
                leave(byNetwork, HostNetwork.of(address));
            }
        }
    }

    private static void leave(ConcurrentHashMap<InetAddress, Integer> counts, InetAddress key) {
        counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
    }

    int total() {
        return total.get();
    }
}
