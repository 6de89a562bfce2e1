package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/** When a member stands for election, and the votes that it has got. */
final class Election {
    /** An election that failed is tried again soon, then more and more slowly. */
    private static final int FAST_ATTEMPTS = 4;

    private final CoreOptions options;
    private final RandomGenerator random;
    private final Set<Integer> full = new HashSet<>();
    private final Set<Integer> weak = new HashSet<>();
    private long deadlineMs;
    private int attempts;

    Election(CoreOptions options, RandomGenerator random, long nowMs) {
        this.options = options;
        this.random = random;
        heardLeader(nowMs);
    }

    long deadlineMs() {
        return deadlineMs;
    }

    /** A leader is there. */
    void heardLeader(long nowMs) {
        attempts = 0;
        deadlineMs = nowMs + longTimeoutMs();
    }

    /** A candidate got our vote, and shall have the time to win. */
    void voted(long nowMs) {
        deadlineMs = nowMs + longTimeoutMs();
    }

    /** The leader's process seems to be gone. */
    void leaderLost(long nowMs) {
        attempts = 0;
        deadlineMs = Math.min(deadlineMs, nowMs + shortTimeoutMs());
    }

    /** Between the timeout and twice that (§3.4). */
    private long longTimeoutMs() {
        return options.electionTimeoutMs() + random.nextLong(options.electionTimeoutMs());
    }

    /** 5 to 50 ms of a timeout of 1 s. */
    private long shortTimeoutMs() {
        long mostMs = Math.max(2, options.electionTimeoutMs() / 20);
        return mostMs / 10 + random.nextLong(mostMs - mostMs / 10) + 1;
    }

    /** A candidacy begins; if it leads nowhere, there is another one after a while. */
    void begin(long nowMs, boolean pre) {
        full.clear();
        weak.clear();
        int power = pre ? attempts++ : attempts + 2;
        deadlineMs = nowMs + (power > FAST_ATTEMPTS ? longTimeoutMs() : shortTimeoutMs() << power);
    }

    void granted(int voter, boolean isWeak) {
        (isWeak ? weak : full).add(voter);
    }

    boolean isWon(Rules rules, ClusterConfiguration configuration) {
        return rules.isElected(configuration, full, weak);
    }
}
