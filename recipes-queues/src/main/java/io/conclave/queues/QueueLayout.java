package io.conclave.queues;

import io.conclave.node.NodePath;

/**
 * Where the znodes of a queue are.
 *
 * @param path the queue's own znode; its children are the items and, beside each item that a consumer works on, its
 *     claim
 */
record QueueLayout(NodePath path) {
    NodePath item(ItemName item) {
        return path.child(item.name());
    }

    NodePath claim(ItemName item) {
        return path.child(item.claim());
    }

    /** The line in which consumers wait for their turn. */
    NodePath consumers() {
        return path.child("consumers");
    }

    /** The line in which producers of a bounded queue wait for their turn. */
    NodePath producers() {
        return path.child("producers");
    }

    /** See {@link CommitMarker}. */
    NodePath witnesses() {
        return path.child("witnesses");
    }

    /** The queue of dead letters. */
    NodePath dead() {
        return path.child("dead");
    }
}
