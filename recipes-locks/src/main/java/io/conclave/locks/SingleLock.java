package io.conclave.locks;

import io.conclave.node.NodePath;

/** One lock at one path, as several of them make a {@link MultiLock}: a mutex, or a half of a shared lock. */
public sealed interface SingleLock permits DistributedLock, ReadLock, WriteLock {
    /** The lock's znode, in the coordinator's namespace. */
    NodePath path();
}
