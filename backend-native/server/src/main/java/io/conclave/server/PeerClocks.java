package io.conclave.server;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns the leader's operator of members whose wall clock is another one than the leader's. Belongs to the log's
 * thread.
 */
final class PeerClocks {
    private static final Logger LOG = LoggerFactory.getLogger(PeerClocks.class);

    private static final Duration MAX_AHEAD = Duration.ofSeconds(5);

    /** A note may have waited for a leader, and is old then. */
    private static final Duration MAX_BEHIND = Duration.ofMinutes(5);

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(10);

    private final TimeSource time;
    private final Map<Integer, Long> warnedNanos = new HashMap<>();

    PeerClocks(TimeSource time) {
        this.time = time;
    }

    /** A member's clock has just said this; whether its operator was warned. */
    boolean noted(int member, long wallMs) {
        long aheadMs = wallMs - time.wallMillis();
        if (aheadMs <= MAX_AHEAD.toMillis() && -aheadMs <= MAX_BEHIND.toMillis()) {
            return false;
        }
        long now = time.monotonicNanos();
        Long last = warnedNanos.get(member);
        if (last != null && now - last < BETWEEN_WARNINGS.toNanos()) {
            return false;
        }
        warnedNanos.put(member, now);
        LOG.warn(
                "The wall clock of member {} is {} s {} that of this member, which leads and gives the log its times: "
                        + "set both right",
                member,
                Math.abs(aheadMs) / 1000,
                aheadMs > 0 ? "ahead of" : "behind");
        return true;
    }
}
