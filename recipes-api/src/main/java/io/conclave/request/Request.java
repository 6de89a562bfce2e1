package io.conclave.request;

import io.conclave.node.NodePath;

/**
 * A request to a session; immutable, built by a static factory and refined by {@code with...} methods.
 *
 * @param <R> what the backend answers
 */
public sealed interface Request<R>
        permits Operation, Read, LinearizableRead, SetAcl, Multi, Sync, AddWatch, RemoveWatch {
    /** The same request on the path read inside a namespace. */
    Request<R> within(NodePath namespace);

    /** Whether the request changes nothing, so that it may be sent again when its outcome is unknown. */
    default boolean isRead() {
        return false;
    }

    /** The request in a few words, for messages and logs; never the data. */
    String describe();
}
