package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that connections are refused, with a line now and then: a flood must not fill the disk that the log needs.
 * Thread-safe.
 */
final class RefusedConnections {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedConnections.class);
    private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();

    private final TimeSource time;

    // All below: @GuardedBy("this").
    private boolean logged;
    private long loggedNanos;
    private long unlogged;

    RefusedConnections(TimeSource time) {
        this.time = time;
    }

    /** Whether this one got a line. */
    synchronized boolean add(@Nullable InetAddress address) {
        long now = time.monotonicNanos();
        if (logged && now - loggedNanos < INTERVAL_NANOS) {
            unlogged++;
            return false;
        }
        LOG.warn(
                "Refused a connection from {}: there are too many from this address (maxClientCnxns), or in all"
                        + " (maxCnxns); {} others were refused since the last such line",
                address,
                unlogged);
        logged = true;
        loggedNanos = now;
        unlogged = 0;
        return true;
    }
}
