package io.conclave.grant;

import io.conclave.node.NodePath;

/**
 * A grant with a fencing token: a lock, leadership, a partition. A guard takes it ({@code io.conclave.guards}), and
 * refuses what its holder writes too late. Where several hold at a time, as leased permits are held, the token tells
 * grants apart only: a guard would refuse all holders but the youngest.
 *
 * <p>It belongs to no thread; everything here may be called from anywhere. After {@link #lost()} it never comes back.
 */
public interface FencedGrant extends Grant {
    /**
     * The token that a guarded store compares; larger than that of every earlier exclusive grant of the same resource.
     * Never blocks.
     */
    FencingToken token();

    /** The holder's znode, in the coordinator's namespace. It is there as long as the grant stands. Never blocks. */
    NodePath path();

    /**
     * The holder's znode as the backend sees it, with chroot and namespace in front: what a guard on the coordination
     * store checks. Never blocks.
     */
    NodePath absolutePath();
}
