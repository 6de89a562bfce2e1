package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The sessions of one backend that its client has given up by its own clocks, and that a server may keep for longer.
 * Each is ended at the server before the next session opens, by a {@link LostSessionEnd}. Thread-safe.
 */
final class LostSessions {
    private final Queue<ConnectRequest> greetings = new ConcurrentLinkedQueue<>();

    /**
     * A session was given up.
     *
     * @param greeting the handshake that resumes it
     */
    void add(ConnectRequest greeting) {
        greetings.add(greeting);
    }

    /** The one that is to be ended next, as {@link #add} was told of it. */
    Optional<ConnectRequest> next() {
        return Optional.ofNullable(greetings.peek());
    }

    /** It has ended at the server. */
    void ended(ConnectRequest greeting) {
        greetings.remove(greeting);
    }
}
