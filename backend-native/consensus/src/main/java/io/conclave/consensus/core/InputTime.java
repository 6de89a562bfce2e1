package io.conclave.consensus.core;

/** The caller's clocks at the last input: what the core does, it does at that time. */
final class InputTime {
    /** Monotonic, in milliseconds. */
    long nowMs;

    /** The wall clock of the last {@link Core#tick}, or of a later proposal. */
    long wallMs;

    InputTime(long nowMs) {
        this.nowMs = nowMs;
    }
}
