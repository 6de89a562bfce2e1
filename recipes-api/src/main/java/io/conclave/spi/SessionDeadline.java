package io.conclave.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The moment after which a session may be gone at the server, by the local clocks.
 *
 * <p>It is moved only by answers that prove that the server counts from a later moment: to attach, ping and writes;
 * each counted from before its request was sent. Once it has passed it stays passed: an answer that comes later
 * revives nothing, because a caller may have been told already that the session may be gone. Thread-safe; moved by the
 * backend, read by everyone.
 */
public final class SessionDeadline {
    private volatile @Nullable Proof proof;
    private volatile @Nullable Proof promise; // the proof with the latest end
    private volatile boolean passed;

    private record Proof(Elapsed mark, Duration timeout) {
        Duration remaining() {
            return mark.remainingOf(timeout);
        }

        Duration promised() {
            return mark.longestRemainingOf(timeout);
        }
    }

    /** A session that has not been attached yet: nothing remains of it, but nothing has passed either. */
    public SessionDeadline() {}

    /**
     * The server has confirmed that it heard of the session after the mark. An older mark than the last one changes
     * nothing.
     *
     * @param mark taken before the confirmed request was sent
     * @param timeout as negotiated
     * @return false if the deadline had passed before: the session must be given up
     */
    public synchronized boolean extend(Elapsed mark, Duration timeout) {
        Proof last = proof;
        if (passed || (last != null && remaining().isZero())) {
            return false;
        }
        if (last == null || mark.isAfter(last.mark) || !timeout.equals(last.timeout)) {
            Proof next = new Proof(mark, timeout);
            proof = next;
            promise = next.promised().compareTo(promised()) > 0 ? next : promise;
            passed = next.remaining().isZero();
        }
        return !passed;
    }

    /** How long the session surely lives from now; zero if it may be gone. Never blocks. */
    public Duration remaining() {
        Proof last = proof;
        if (last == null || passed) {
            return Duration.ZERO;
        }
        Duration remaining = last.remaining();
        return remaining.isZero() ? pass() : remaining;
    }

    /**
     * For how long from now the session may have been said to live, although the deadline has passed: {@link
     * #remaining} is told ahead of time, and a clock may have jumped since. Until then its client must not end it where
     * somebody relies on that. Never blocks.
     */
    public Duration promised() {
        Proof longest = promise;
        return longest == null ? Duration.ZERO : longest.promised();
    }

    /**
     * An answer of zero is final: an answer that came at the same moment either counted before, or not at all.
     */
    private synchronized Duration pass() {
        Proof last = proof;
        Duration remaining = last == null || passed ? Duration.ZERO : last.remaining();
        if (remaining.isZero()) {
            passed = true;
        }
        return remaining;
    }
}
