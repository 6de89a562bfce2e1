package io.conclave.config;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long the loser of a race for a znode waits before the next attempt: not at all at first, then longer and longer
 * at random, so that many come through one after the other.
 */
final class Backoff {
    private static final int PATIENT_ATTEMPTS = 2;
    private static final int LONGEST_MS = 64;

    private Backoff() {}

    /** @param attempt counts the races that were lost, from 1 */
    static Duration after(int attempt) {
        if (attempt <= PATIENT_ATTEMPTS) {
            return Duration.ZERO;
        }
        int mostMs = Math.min(LONGEST_MS, 1 << Math.min(attempt - PATIENT_ATTEMPTS, 10));
        return Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, mostMs + 1));
    }
}
