package io.conclave.importing;

import io.conclave.tree.ImportedState.Imported;
import io.conclave.tree.ZnodeAcl;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tree while a log is replayed over a snapshot. ZooKeeper writes a snapshot while the tree changes, so a
 * transaction may find that it is done already, or that its parent is not there yet; it then does what is left of it,
 * as in ZooKeeper.
 */
final class ReplayedTree {
    static final String ROOT = "/";

    private final Map<String, Node> nodes = new HashMap<>();

    /** The paths of each owner's znodes: of sessions, and of what marks other kinds. */
    private final Map<Long, Set<String>> owned = new HashMap<>();

    private final Set<Long> sessions = new HashSet<>();

    /** A znode, with ZooKeeper's stored Stat. */
    static final class Node {
        byte @Nullable [] data;

        /** Null while it is not known: of a snapshot that does not list it, until a transaction sets it. */
        @Nullable
        ZnodeAcl acl;

        long czxid;
        long mzxid;
        long pzxid;
        long ctime;
        long mtime;
        int version;
        int cversion;
        int aversion;
        long owner;
        private Set<String> children = Set.of();

        Node(byte @Nullable [] data, @Nullable ZnodeAcl acl) {
            this.data = data;
            this.acl = acl;
        }

        private void childCreated(int newCversion, long zxid) {
            if (newCversion > cversion) {
                cversion = newCversion;
                pzxid = zxid;
            }
        }

        private void add(String name) {
            if (children.isEmpty()) {
                children = new HashSet<>();
            }
            children.add(name);
        }

        Imported imported(ZnodeAcl known) {
            return new Imported(data, known, czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner);
        }
    }

    /** From a snapshot; false if the parent is not there, or the znode was there before. */
    boolean read(String path, Node node) {
        Node parent = path.equals(ROOT) ? null : nodes.get(parentOf(path));
        if ((parent == null && !path.equals(ROOT)) || nodes.put(path, node) != null) {
            return false;
        }
        if (parent != null) {
            parent.add(nameOf(path));
        }
        own(path, node);
        return true;
    }

    /**
     * @param parentCversion the parent's cversion from then on; -1 for one more than it is
     */
    void create(
            String path, byte @Nullable [] data, ZnodeAcl acl, long owner, int parentCversion, long zxid, long timeMs) {
        Node parent = nodes.get(parentOf(path));
        if (parent == null) {
            return; // it was deleted while the snapshot was written, by a transaction that comes later
        }
        parent.childCreated(parentCversion == -1 ? parent.cversion + 1 : parentCversion, zxid);
        Node present = nodes.get(path);
        if (present != null && parent.children.contains(nameOf(path))) {
            present.acl = acl; // a snapshot may have the znode without it
            return;
        }
        Node node = new Node(data, acl);
        node.czxid = zxid;
        node.mzxid = zxid;
        node.pzxid = zxid;
        node.ctime = timeMs;
        node.mtime = timeMs;
        node.owner = owner;
        parent.add(nameOf(path));
        nodes.put(path, node);
        own(path, node);
    }

    private void own(String path, Node node) {
        if (node.owner != 0) {
            owned.computeIfAbsent(node.owner, any -> new HashSet<>()).add(path);
        }
    }

    void delete(String path, long zxid) {
        Node parent = nodes.get(parentOf(path));
        if (parent == null) {
            return;
        }
        if (!parent.children.isEmpty()) {
            parent.children.remove(nameOf(path));
        }
        parent.pzxid = Math.max(parent.pzxid, zxid);
        Node node = nodes.remove(path);
        Set<String> siblings = node == null ? null : owned.get(node.owner);
        if (siblings != null) {
            siblings.remove(path);
        }
    }

    void setData(String path, byte @Nullable [] data, int version, long zxid, long timeMs) {
        Node node = nodes.get(path);
        if (node != null) {
            node.data = data;
            node.version = version;
            node.mzxid = zxid;
            node.mtime = timeMs;
        }
    }

    void setAcl(String path, ZnodeAcl acl, int version) {
        Node node = nodes.get(path);
        if (node != null) {
            node.acl = acl;
            node.aversion = version;
        }
    }

    void openSession(long session) {
        sessions.add(session);
    }

    /** How many sessions have not ended. */
    int sessionCount() {
        return sessions.size();
    }

    /** The session's end takes its ephemerals along, and those that the transaction names. */
    void closeSession(long session, List<String> named, long zxid) {
        sessions.remove(session);
        List.copyOf(owned.getOrDefault(session, Set.of())).forEach(path -> delete(path, zxid));
        named.forEach(path -> delete(path, zxid));
    }

    /** As ZooKeeper makes it of all that it has. */
    long digest() {
        return ForeignDigest.of(nodes);
    }

    /** What can be reached from the root. */
    Map<String, Node> znodes() {
        Map<String, Node> all = new HashMap<>();
        Deque<String> open = new ArrayDeque<>(nodes.containsKey(ROOT) ? List.of(ROOT) : List.of());
        while (!open.isEmpty()) {
            String path = open.pop();
            Node node = nodes.get(path);
            if (node == null) {
                throw new IllegalStateException("no znode " + path + ", which its parent has as a child");
            }
            all.put(path, node);
            String prefix = path.equals(ROOT) ? ROOT : path + '/';
            node.children.forEach(name -> open.push(prefix + name));
        }
        return all;
    }

    private static String parentOf(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? ROOT : path.substring(0, slash);
    }

    private static String nameOf(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
