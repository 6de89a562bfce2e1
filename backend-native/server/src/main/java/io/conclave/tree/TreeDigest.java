package io.conclave.tree;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A number for comparing the states of members. Every node and session gives a hash of all its fields, and the sum of
 * them does not depend on any order; so a change of one takes its old hash out of the sum and puts the new one in. It
 * guards against mistakes, not against forgers.
 *
 * <p>A node gives two hashes: of what its children's coming and going changes, and of all else. Data may be large, and
 * are not to be read again whenever a child is created.
 */
final class TreeDigest {
    private static final long ROOT_PATH = 1;
    private static final long HEADER = 2;
    private static final long SESSION = 3;
    private static final long CHILDREN = 4;
    private static final long TOTALS = 5;
    private static final long PATH_FACTOR = 1_099_511_628_211L;

    private long hash;

    private TreeDigest(long seed) {
        hash = seed;
    }

    // ---- paths

    /** Of the path of a node. */
    static long path(String path) {
        return path(path, path.length() == 1 ? 0 : path.length());
    }

    /** Of the part of a path before an index; 0 is the root. */
    static long path(String path, int end) {
        return extended(ROOT_PATH, path, 0, end);
    }

    /** Of a child of the node that has this one. */
    static long child(long parentPath, String name) {
        return extended(parentPath * PATH_FACTOR + '/', name, 0, name.length());
    }

    private static long extended(long path, String text, int from, int to) {
        long hash = path;
        for (int i = from; i < to; i++) {
            hash = hash * PATH_FACTOR + text.charAt(i);
        }
        return hash;
    }

    // ---- parts of the sum

    /** All that a node gives. */
    static long node(long path, Znode node) {
        return content(path, node) + children(path, node);
    }

    /** What it gives but for {@link #children}. */
    static long content(long path, Znode node) {
        TreeDigest digest = new TreeDigest(path);
        byte[] data = node.data();
        digest.add(data == null ? -1 : data.length);
        digest.add(checksum(data));
        digest.add(node.acl().digest());
        digest.add(node.czxid());
        digest.add(node.mzxid());
        digest.add(node.ctime());
        digest.add(node.mtime());
        digest.add(((long) node.version() << Integer.SIZE) ^ node.aversion());
        digest.add(node.owner);
        return digest.hash;
    }

    /** What changes when a child comes or goes. */
    static long children(long path, Znode node) {
        TreeDigest digest = new TreeDigest(path ^ CHILDREN);
        digest.add(node.pzxid());
        digest.add(node.creations());
        return digest.hash;
    }

    /** Without the session's ephemerals, since each of them names its session. */
    static long session(@Nullable SessionRecord session) {
        if (session == null) {
            return 0;
        }
        TreeDigest digest = new TreeDigest(SESSION);
        digest.add(session.id());
        digest.add(checksum(session.password().toBytes()));
        digest.add(session.timeoutMs());
        digest.add(session.attachment());
        digest.add(session.suspicion());
        return digest.hash;
    }

    private static long checksum(byte @Nullable [] data) {
        if (data == null || data.length == 0) {
            return 0;
        }
        CRC32C checksum = new CRC32C();
        checksum.update(data);
        return checksum.getValue();
    }

    /** Looks at all of the list, which {@linkplain ZnodeAcl#digest knows} what comes of it. */
    static long ofAcl(ZnodeAcl acl) {
        TreeDigest digest = new TreeDigest(0);
        for (AclEntry entry : acl.entries()) {
            digest.add(entry.permissions());
            digest.add(path(entry.id().scheme()));
            digest.add(path(entry.id().id()));
        }
        return digest.hash;
    }

    // ---- whole states

    /** Of a state, by the sum that it carries along. */
    static long of(TreeState state) {
        return ofHeader(state) + ofTotals(state) + state.totals().digest();
    }

    private static long ofHeader(TreeState state) {
        TreeDigest digest = new TreeDigest(HEADER);
        digest.add(state.clusterId().getMostSignificantBits());
        digest.add(state.clusterId().getLeastSignificantBits());
        digest.add(state.generation());
        digest.add(state.featureLevel());
        digest.add(state.term());
        digest.add(state.lastZxid());
        digest.add(state.lastTimeMs());
        return digest.hash;
    }

    private static long ofTotals(TreeState state) {
        TreeDigest digest = new TreeDigest(TOTALS);
        digest.add(state.nodeCount());
        digest.add(state.approximateDataBytes());
        digest.add(state.ephemeralCount());
        digest.add(state.sessions().size());
        return digest.hash;
    }

    /** A node still to be visited, with the hash of its path. */
    private record Visit(long path, Znode node) {}

    /** What the sum is wrong by if a list is not what it was when its digest was made. */
    static long damageOf(ZnodeAcl acl) {
        return ofAcl(acl) - acl.digest();
    }

    /** The sum, by a walk over all sessions and nodes. */
    static long sum(TreeState state) {
        long sum = 0;
        for (var entry : state.sessions()) {
            sum += session(entry.getValue());
        }
        Set<ZnodeAcl> acls = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Visit> pending = new ArrayDeque<>();
        pending.push(new Visit(ROOT_PATH, state.root()));
        while (!pending.isEmpty()) {
            Visit visit = pending.pop();
            sum += node(visit.path, visit.node);
            if (acls.add(visit.node.acl())) {
                sum += damageOf(visit.node.acl());
            }
            visit.node.children().forEach((name, child) -> pending.push(new Visit(child(visit.path, name), child)));
        }
        return sum;
    }

    /** The finalizer of SplitMix64 over the hash so far and the value. */
    private void add(long value) {
        long mixed = (hash ^ value) + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        hash = mixed ^ (mixed >>> 31);
    }
}
