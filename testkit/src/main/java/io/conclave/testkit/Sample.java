package io.conclave.testkit;

/**
 * How much of what could be tried is tried: a sample in the default build, everything in the proofs. A test that asks
 * this carries the tag {@code sampled}, so that the proofs run it again.
 */
public final class Sample {
    /** The system property that has one in so many tried; 1, which is all, if not set. */
    public static final String PROPERTY = "conclave.sample";

    private Sample() {}

    /** One in how many is tried; 1 for all. */
    public static int oneIn() {
        return Math.max(1, Integer.getInteger(PROPERTY, 1));
    }

    /** How many of so many are tried, at least one. */
    public static int of(int all) {
        return Math.max(1, all / oneIn());
    }
}
