package io.conclave.locks;

import io.conclave.grant.Grant;
import io.conclave.node.NodePath;

/** A lock that is held, until it is closed or lost. */
public interface LockGrant extends Grant {
    /** The holder's znode, in the coordinator's namespace. */
    NodePath path();

    /** The holder's znode as the backend sees it, with chroot and namespace in front: what a {@link StoreGuard} checks. */
    NodePath absolutePath();
}
