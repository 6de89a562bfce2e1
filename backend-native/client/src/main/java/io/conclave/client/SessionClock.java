package io.conclave.client;

import io.conclave.spi.Elapsed;
import io.conclave.spi.SessionDeadline;
import io.conclave.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The session's time: how long the server's answers prove the session alive, and when to ping or to check again. Owned
 * by the session's event loop; any thread may read the remaining time.
 *
 * <p>A ping is sent a third of the timeout after the last proof, and another one each third until there is a proof.
 * After two thirds without a proof a connection is given up that is silent, which leaves the last third to find another
 * one. A connection over which answers still come that were asked for before the ping is kept: the same answers would
 * hold up the next one.
 */
final class SessionClock {
    private static final Duration SHORTEST_TICK = Duration.ofMillis(1);

    private final TimeSource time;
    private final Runnable onTick;
    private final SessionDeadline deadline = new SessionDeadline();
    private Duration timeout;
    private @Nullable Elapsed greetingSent;
    private @Nullable Elapsed newestProof;
    private TimeSource.@Nullable Timer tick;

    /**
     * A clock that stands until a server grants the session.
     *
     * @param timeout as wished
     * @param onTick called by the time source's thread when it is time to look again
     */
    SessionClock(TimeSource time, Duration timeout, Runnable onTick) {
        this.time = time;
        this.timeout = timeout;
        this.onTick = onTick;
    }

    /** How long the session surely lives from now; zero if it may be gone. From any thread. */
    Duration remaining() {
        return deadline.remaining();
    }

    /** For how long somebody may still rely on a session whose time has passed: see the deadline. From any thread. */
    Duration promised() {
        return deadline.promised();
    }

    /** The timeout that the server granted; before that, the requested one. */
    Duration timeout() {
        return timeout;
    }

    Elapsed mark() {
        return Elapsed.since(time);
    }

    // ---- proofs

    /** The handshake is about to be sent: its answer will prove the session alive from now. */
    void greetingSent() {
        greetingSent = mark();
    }

    /** The server has granted the session; false if its time had passed before the answer. */
    boolean granted(Duration granted) {
        timeout = granted;
        Elapsed sent = greetingSent;
        deadline.extend(sent == null ? mark() : sent, timeout);
        return !deadline.remaining().isZero();
    }

    /** An answer proves that the session lived at the server after the mark. */
    void proven(Elapsed mark) {
        Elapsed newest = newestProof;
        if (newest == null || mark.isAfter(newest)) {
            newestProof = mark;
        }
    }

    /** Counts the newest proof, if any has come; false if it came too late. */
    boolean countProofs() {
        Elapsed proof = newestProof;
        newestProof = null;
        if (proof == null) {
            return true;
        }
        deadline.extend(proof, timeout);
        return !deadline.remaining().isZero();
    }

    // ---- ticks

    /** Whether a connection has been silent for so long that it must be given up, with this left of the session. */
    boolean isSilentTooLong(Duration left, Connection attached) {
        return untilSilentTooLong(left, attached).compareTo(Duration.ZERO) <= 0;
    }

    private Duration untilSilentTooLong(Duration left, Connection attached) {
        return longer(left.minus(third()), attached.pings().leftSinceHeard(third()));
    }

    /**
     * Pings if it is time to, and sets the timer for the next moment at which something is to be done.
     *
     * @param left what remains of the session
     * @param attached the connection that carries the session, if one does
     */
    void scheduleTick(Duration left, @Nullable Connection attached) {
        Duration next = left;
        if (attached != null) {
            Duration untilPing =
                    longer(left.minus(third()).minus(third()), attached.pings().leftSinceUnanswered(third()));
            if (untilPing.compareTo(SHORTEST_TICK) <= 0) {
                attached.ping(mark());
                untilPing = third();
            }
            next = shorter(left, shorter(untilPing, untilSilentTooLong(left, attached)));
        }
        stop();
        // The remaining time shrinks a little faster than time passes.
        Duration delay = next.minus(next.dividedBy(100));
        tick = time.schedule(delay.compareTo(SHORTEST_TICK) < 0 ? SHORTEST_TICK : delay, onTick);
    }

    /** No tick follows, unless one is scheduled again. */
    void stop() {
        TimeSource.Timer waiting = tick;
        if (waiting != null) {
            waiting.cancel();
        }
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    private Duration third() {
        return timeout.dividedBy(3);
    }
}
