package io.conclave.consensus.disk;

/** The simulated machine or process ended in the middle of a disk operation. */
public final class PowerFailure extends Error {
    private static final long serialVersionUID = 1;

    PowerFailure() {
        super("simulated end of the process", null, false, false);
    }
}
