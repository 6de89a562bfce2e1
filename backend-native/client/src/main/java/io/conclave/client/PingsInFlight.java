package io.conclave.client;

import io.conclave.spi.Elapsed;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The pings that were sent on one connection and not yet answered, and how long the server has been silent meanwhile.
 * Belongs to the session's loop.
 *
 * <p>A server comes to a ping when it has taken the requests before it, which over a slow link is when their answers
 * have gone. So as long as something arrives while such an answer is still to come, the server is late with the ping
 * without being silent. What arrives behind these answers says nothing: a server that is cut off from the others
 * answers reads, and no ping. Events do say that it is not cut off, and come before the answer to a ping as well.
 *
 * <p>A server answers each ping once. So however these answers overtake each other, when as many have come as a ping
 * has before it and itself, one was for this ping or a later one.
 */
final class PingsInFlight {
    private final RequestsInFlight requests;
    private final SessionClock clock;
    private final Queue<Ping> unanswered = new ArrayDeque<>();
    private @Nullable Elapsed lastSent;
    private @Nullable Elapsed lastHeard;

    /**
     * A ping.
     *
     * @param sent before it was sent
     * @param requestsBefore how many requests were sent before it
     */
    private record Ping(Elapsed sent, long requestsBefore) {}

    /** None yet, beside these requests. */
    PingsInFlight(RequestsInFlight requests, SessionClock clock) {
        this.requests = requests;
        this.clock = clock;
    }

    /** The server has let the session in, however long that took: from here on it may be silent for a while. */
    void begin() {
        lastHeard = clock.mark();
    }

    /** A ping is about to be sent. */
    void add(Elapsed now) {
        unanswered.add(new Ping(now, requests.added()));
        lastSent = now;
    }

    /** One is answered, which proves the session alive. */
    void answered() {
        Ping oldest = unanswered.poll();
        if (oldest != null) {
            clock.proven(oldest.sent());
            lastHeard = clock.mark();
        }
    }

    /** Something arrives, and is not read yet. */
    void onArrival() {
        Ping oldest = unanswered.peek();
        if (oldest != null && requests.ended() < oldest.requestsBefore()) {
            lastHeard = clock.mark();
        }
    }

    /** An event has arrived: a server that is cut off from the others has none, so one that is not is late. */
    void onEvent() {
        if (!unanswered.isEmpty()) {
            lastHeard = clock.mark();
        }
    }

    /** How much of a span since the last ping is left, if that is not answered yet; else zero. */
    Duration leftSinceUnanswered(Duration span) {
        return unanswered.isEmpty() ? Duration.ZERO : leftOf(span, lastSent);
    }

    /** How much of a span is left since the server was last heard: a ping's answer, or what comes before it. */
    Duration leftSinceHeard(Duration span) {
        return leftOf(span, lastHeard);
    }

    private static Duration leftOf(Duration span, @Nullable Elapsed since) {
        return since == null ? Duration.ZERO : since.remainingOf(span);
    }
}
