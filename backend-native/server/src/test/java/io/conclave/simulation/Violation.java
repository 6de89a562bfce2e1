package io.conclave.simulation;

/** Something that must never be. An error, so that no code on its way takes it for a failure of its own to handle. */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
        super(message);
    }

    Violation(String message, Throwable cause) {
        super(message, cause);
    }
}
