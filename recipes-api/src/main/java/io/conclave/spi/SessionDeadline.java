package io.conclave.spi;

import io.conclave.time.Elapsed;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The moment after which a session may be gone at the server, by the local clocks.
 *
 * <p>It is moved only by answers that prove that the server counts from a later moment: to attach, ping and writes; each counted from
 * before its request was queued. Thread-safe; moved by the backend, read by everyone.
 */
public final class SessionDeadline {
    private volatile @Nullable Proof proof;

    private record Proof(Elapsed mark, Duration timeout) {}

    /** A session that has not been attached yet: nothing remains of it. */
    public SessionDeadline() {}

    /**
     * The server has confirmed that it heard of the session after the mark. An older mark than the last one changes nothing.
     *
     * @param mark taken before the confirmed request was queued
     * @param timeout as negotiated
     */
    public synchronized void extend(Elapsed mark, Duration timeout) {
        Proof last = proof;
        if (last == null || mark.isAfter(last.mark) || !timeout.equals(last.timeout)) {
            proof = new Proof(mark, timeout);
        }
    }

    /** How long the session surely lives from now; zero if it may be gone. Never blocks. */
    public Duration remaining() {
        Proof last = proof;
        return last == null ? Duration.ZERO : last.mark.remainingOf(last.timeout);
    }
}
