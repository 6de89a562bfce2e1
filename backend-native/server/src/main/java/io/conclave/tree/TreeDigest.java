package io.conclave.tree;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * A number for comparing the states of members. Every node and session gives a hash of all its fields, and the sum of
 * them does not depend on any order. It guards against mistakes, not against forgers.
 */
final class TreeDigest {
    /** A node still to be visited, with the hash of its path. */
    private record Visit(long pathHash, Znode node) {}

    private long hash;

    private TreeDigest(long seed) {
        hash = seed;
    }

    static long of(TreeState state) {
        long sum = ofHeader(state);
        for (var entry : state.sessions()) {
            sum += of(entry.getValue());
        }
        Deque<Visit> pending = new ArrayDeque<>();
        pending.push(new Visit(1, state.root()));
        while (!pending.isEmpty()) {
            Visit visit = pending.pop();
            sum += of(visit);
            visit.node.children().forEach((name, child) -> {
                TreeDigest path = new TreeDigest(visit.pathHash);
                path.add(name);
                pending.push(new Visit(path.hash, child));
            });
        }
        return sum;
    }

    private static long ofHeader(TreeState state) {
        TreeDigest digest = new TreeDigest(2);
        digest.add(state.clusterId().getMostSignificantBits());
        digest.add(state.clusterId().getLeastSignificantBits());
        digest.add(state.generation());
        digest.add(state.featureLevel());
        digest.add(state.term());
        digest.add(state.lastZxid());
        digest.add(state.lastTimeMs());
        return digest.hash;
    }

    private static long of(SessionRecord session) {
        TreeDigest digest = new TreeDigest(3);
        digest.add(session.id());
        digest.add(Arrays.hashCode(session.password().toBytes()));
        digest.add(session.timeoutMs());
        digest.add(session.attachment());
        digest.add(session.suspicion());
        for (String path : session.ephemerals().sorted()) {
            digest.add(path);
        }
        return digest.hash;
    }

    private static long of(Visit visit) {
        Znode node = visit.node;
        TreeDigest digest = new TreeDigest(visit.pathHash);
        byte[] data = node.data();
        digest.add(data == null ? -1 : data.length);
        digest.add(Arrays.hashCode(data));
        for (AclEntry entry : node.acl().entries()) {
            digest.add(entry.permissions());
            digest.add(entry.id().scheme());
            digest.add(entry.id().id());
        }
        digest.add(node.czxid());
        digest.add(node.mzxid());
        digest.add(node.pzxid());
        digest.add(node.ctime());
        digest.add(node.mtime());
        digest.add(node.version());
        digest.add(node.creations());
        digest.add(node.aversion());
        digest.add(node.owner);
        return digest.hash;
    }

    private void add(String text) {
        add(text.length());
        for (int i = 0; i < text.length(); i++) {
            hash = hash * 1_099_511_628_211L + text.charAt(i);
        }
        add(0);
    }

    /** The finalizer of SplitMix64 over the hash so far and the value. */
    private void add(long value) {
        long mixed = (hash ^ value) + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        hash = mixed ^ (mixed >>> 31);
    }
}
