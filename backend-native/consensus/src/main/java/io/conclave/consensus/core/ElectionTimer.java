package io.conclave.consensus.core;

import java.util.random.RandomGenerator;

/** How long a member waits, for a leader to be heard or for votes, before it stands for election. */
final class ElectionTimer {
    /** An election that failed is tried again soon, then more and more slowly. */
    private static final int FAST_ATTEMPTS = 4;

    private final CoreOptions options;
    private final RandomGenerator random;
    private long heardLeaderMs;
    private long deadlineMs;
    private int attempts;

    ElectionTimer(CoreOptions options, RandomGenerator random, long nowMs) {
        this.options = options;
        this.random = random;
        heardLeader(nowMs);
    }

    /** When the member stands for election. */
    long deadlineMs() {
        return deadlineMs;
    }

    long heardLeaderMs() {
        return heardLeaderMs;
    }

    /** Whether a leader was heard so lately that others are not to be helped to depose it. */
    boolean hasHeardLeader(long nowMs) {
        return nowMs - heardLeaderMs < options.electionTimeoutMs();
    }

    /** A leader is there. */
    void heardLeader(long nowMs) {
        heardLeaderMs = nowMs;
        restart(nowMs);
    }

    /** This member leads no more: it lost sight of the others then, and not when it last followed a leader. */
    void deposed(long nowMs, long heardMajorityMs) {
        heardLeaderMs = Math.max(heardLeaderMs, heardMajorityMs);
        restart(nowMs);
    }

    private void restart(long nowMs) {
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

    /** A candidacy begins; if it leads nowhere, there is another one after a while. */
    void begun(long nowMs, boolean pre) {
        int power = pre ? attempts++ : attempts + 2;
        deadlineMs = nowMs + (power > FAST_ATTEMPTS ? longTimeoutMs() : shortTimeoutMs() << power);
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
}
