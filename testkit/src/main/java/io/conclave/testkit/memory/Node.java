package io.conclave.testkit.memory;

import io.conclave.node.Acl;
import io.conclave.node.Bytes;
import io.conclave.node.NodeStat;
import java.util.LinkedHashSet;
import java.util.Set;

/** A znode in memory; owned by its tree. */
final class Node {
    final long czxid;
    final long ctimeMs;
    final long ephemeralOwner;
    final boolean isContainer;
    /** 0 for none. */
    final long ttlMs;

    final Set<String> children = new LinkedHashSet<>();
    Acl acl;
    Bytes data;
    long mzxid;
    long mtimeMs;
    long pzxid;
    int version;
    int aclVersion;
    /** How many children were ever created; numbers the sequential ones, wraps. */
    int createdChildren;

    Node(long zxid, long timeMs, Bytes data, Acl acl, long ephemeralOwner, boolean isContainer, long ttlMs) {
        this.czxid = zxid;
        this.ctimeMs = timeMs;
        this.mzxid = zxid;
        this.mtimeMs = timeMs;
        this.pzxid = zxid;
        this.data = data;
        this.acl = acl;
        this.ephemeralOwner = ephemeralOwner;
        this.isContainer = isContainer;
        this.ttlMs = ttlMs;
    }

    boolean hasOutlivedItsTime(long nowMs) {
        return ttlMs != 0 && children.isEmpty() && nowMs - mtimeMs > ttlMs;
    }

    NodeStat stat() {
        // As ZooKeeper shows it: every child was created once, and those that are gone were deleted once.
        int cversion = 2 * createdChildren - children.size();
        return new NodeStat(
                czxid,
                mzxid,
                pzxid,
                ctimeMs,
                mtimeMs,
                version,
                cversion,
                aclVersion,
                ephemeralOwner,
                data.size(),
                children.size());
    }
}
