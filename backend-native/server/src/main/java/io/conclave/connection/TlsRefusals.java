package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.net.SocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs why connections did not come to TLS, with a few lines in ten seconds at most. Thread-safe. */
final class TlsRefusals {
    private static final Logger LOG = LoggerFactory.getLogger(TlsRefusals.class);
    private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int LINES = 10;

    private final TimeSource time;

    // All below: @GuardedBy("this").
    private long sinceNanos;
    private int lines;
    private long unlogged;
    private long all;

    TlsRefusals(TimeSource time) {
        this.time = time;
    }

    synchronized void add(@Nullable SocketAddress client, String reason) {
        all++;
        long now = time.monotonicNanos();
        if (lines == 0 || now - sinceNanos >= INTERVAL_NANOS) {
            sinceNanos = now;
            lines = 0;
        }
        if (lines == LINES) {
            unlogged++;
            return;
        }
        lines++;
        LOG.warn(
                "Refused a connection from {}: {}{}",
                client,
                reason,
                unlogged == 0 ? "" : "; " + unlogged + " others were refused since the last such line");
        unlogged = 0;
    }

    /** How many there were. */
    synchronized long count() {
        return all;
    }
}
