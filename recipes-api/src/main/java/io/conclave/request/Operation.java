package io.conclave.request;

import io.conclave.node.NodePath;

/**
 * A request that may also be part of a {@link Multi}.
 *
 * @param <R> what the backend answers
 */
public sealed interface Operation<R> extends Request<R> permits Create, Delete, SetData, Check {
    /** The znode concerned. */
    NodePath path();

    @Override
    Operation<R> within(NodePath namespace);
}
