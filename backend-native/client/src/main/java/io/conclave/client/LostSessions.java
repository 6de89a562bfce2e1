package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * The sessions of one backend that its client has given up by its own clocks, and that a server may keep for longer.
 * Each is ended at the server before the next session opens, by a {@link LostSessionEnd}. Thread-safe.
 */
final class LostSessions {
    private final Queue<Lost> all = new ConcurrentLinkedQueue<>();

    /**
     * One of them.
     *
     * @param greeting the handshake that resumes it
     * @param promised for how long from now somebody may still rely on it
     */
    record Lost(ConnectRequest greeting, Supplier<Duration> promised) {}

    /** A session was given up. */
    void add(Lost lost) {
        all.add(lost);
    }

    /** The one that is to be ended next. */
    Optional<Lost> next() {
        return Optional.ofNullable(all.peek());
    }

    /** It has ended at the server. */
    void ended(Lost lost) {
        all.remove(lost);
    }
}
