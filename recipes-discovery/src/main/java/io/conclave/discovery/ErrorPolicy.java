package io.conclave.discovery;

import java.time.Duration;

/**
 * How many errors within which time have a provider leave an instance out.
 *
 * @param errors how many
 * @param within in which time; the instance is chosen again when fewer errors are as recent as that
 */
public record ErrorPolicy(int errors, Duration within) {
    /** Two errors within 30 seconds, as Curator has it. */
    public static final ErrorPolicy DEFAULT = new ErrorPolicy(2, Duration.ofSeconds(30));

    private static final int MAX_ERRORS = 1_000;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if the errors are not between 1 and 1000, or the time is not positive
     */
    public ErrorPolicy {
        if (errors < 1 || errors > MAX_ERRORS) {
            throw new IllegalArgumentException(
                    "Invalid number of errors " + errors + ": it must be between 1 and " + MAX_ERRORS);
        }
        if (within.isNegative() || within.isZero()) {
            throw new IllegalArgumentException("Invalid time for errors " + within + ": it must be positive");
        }
    }
}
