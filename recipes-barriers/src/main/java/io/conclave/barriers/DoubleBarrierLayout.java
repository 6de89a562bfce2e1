package io.conclave.barriers;

import io.conclave.node.NodePath;

/**
 * Where the parts of a double barrier are.
 *
 * @param path its znode
 * @param participants how many go through together
 */
record DoubleBarrierLayout(NodePath path, int participants) {
    static final String READY = "ready";

    /** The znode that is there from the moment when all have entered until the last of them leaves. */
    NodePath ready() {
        return path.child(READY);
    }

    NodePath member(String name) {
        return path.child(name);
    }
}
