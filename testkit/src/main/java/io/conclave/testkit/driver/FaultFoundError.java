package io.conclave.testkit.driver;

/** A run broke a rule; the message says which, and how to repeat that run alone. */
public final class FaultFoundError extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final int runs;
    private final transient Plan plan;

    FaultFoundError(String message, int runs, Plan plan) {
        super(message);
        this.runs = runs;
        this.plan = plan;
    }

    /** How many runs with faults were made until it was found, that one included; 0 if it was a clean run. */
    public int runs() {
        return runs;
    }

    /** The faults of the run. */
    public Plan plan() {
        return plan;
    }
}
