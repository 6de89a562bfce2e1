package io.conclave.consensus;

import java.io.IOException;
import java.io.OutputStream;

/** An immutable state of the {@link StateMachine}, held while applying goes on. */
@FunctionalInterface
public interface StateSnapshot {

    /**
     * Writes the state; called once at most, on the executor for snapshots, while the machine applies further batches.
     * The stream is buffered, and closed by the log. An exception gives up this snapshot only.
     */
    void writeTo(OutputStream out) throws IOException;
}
