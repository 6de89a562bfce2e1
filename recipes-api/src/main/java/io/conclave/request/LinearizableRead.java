package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * A read that sees every write that was acknowledged to anybody before it was issued: it stands with the writes in one
 * order in which each takes effect between its call and its answer. Any other read may lag, never behind what its own
 * session has seen.
 *
 * <p>On our servers and on Apache ZooKeeper it is a {@link Sync} with the read sent in the same flush: one round trip
 * for the client, and one more from its server to the leader. On our servers the leader confirms with a majority that
 * it still leads; on Apache ZooKeeper it does not, so there a leader that was cut off answers with old state until it
 * notices.
 *
 * @param read what is read
 * @param path where
 * @param <R> what the backend answers
 */
public record LinearizableRead<R>(Request<R> read, NodePath path) implements Request<R> {
    /** Rejects nulls, what is no read, and what is linearizable already. */
    public LinearizableRead {
        Objects.requireNonNull(path, "path");
        if (!read.isRead()) {
            throw new IllegalArgumentException(read.describe() + " is no read");
        }
        if (read instanceof LinearizableRead) {
            throw new IllegalArgumentException(read.describe() + " cannot be made linearizable again");
        }
    }

    @Override
    public LinearizableRead<R> within(NodePath namespace) {
        return new LinearizableRead<>(read.within(namespace), path.within(namespace));
    }

    @Override
    public boolean isRead() {
        return true;
    }

    @Override
    public String describe() {
        return read.describe() + " linearizably";
    }
}
