package io.conclave.server;

import java.util.function.BooleanSupplier;

/**
 * Whether this member leads, and in what term. Written on the log's thread, read by all; a reader may be late by a
 * moment, and what it does then is made good by the rules of the log (a term in a change, a confirmation by a
 * majority).
 */
final class LeaderTerm {
    private static final long NONE = 0;

    private volatile long term = NONE;
    private volatile boolean alone;
    private final BooleanSupplier termsUnderstood;

    /** @param termsUnderstood whether all members know changes that name a term; from any thread */
    LeaderTerm(BooleanSupplier termsUnderstood) {
        this.termsUnderstood = termsUnderstood;
    }

    void lead(long newTerm) {
        term = newTerm;
    }

    void end() {
        term = NONE;
    }

    /** Whether this member is the whole cluster, as far as anybody could know. */
    void alone(boolean value) {
        alone = value;
    }

    boolean leads() {
        return term != NONE;
    }

    /** Whether no other member could lead. */
    boolean isAlone() {
        return alone && leads();
    }

    long term() {
        return term;
    }

    /** The term for changes that name it only if all members understand that; else 0. */
    long termInChanges() {
        return termsUnderstood.getAsBoolean() ? term : NONE;
    }
}
