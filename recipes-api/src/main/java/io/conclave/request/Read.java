package io.conclave.request;

import io.conclave.node.NodePath;

/**
 * A request for what is at a path.
 *
 * @param <R> what the backend answers
 */
public sealed interface Read<R> extends Request<R> permits Exists, GetData, GetChildren, GetAcl {
    /** The znode. */
    NodePath path();

    /** The same read, which sees every write acknowledged to anybody before. */
    default LinearizableRead<R> linearizable() {
        return new LinearizableRead<>(this, path());
    }

    @Override
    default boolean isRead() {
        return true;
    }
}
