package io.conclave.session;

/** A listener's place; closing it ends the listening. */
@FunctionalInterface
public interface Registration extends AutoCloseable {
    /** Ends the listening; a call that is under way may still be seen. Idempotent, never blocks. */
    @Override
    void close();
}
