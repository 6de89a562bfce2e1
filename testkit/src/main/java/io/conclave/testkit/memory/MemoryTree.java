package io.conclave.testkit.memory;

import static io.conclave.node.NodeEvent.Type.CHILDREN_CHANGED;
import static io.conclave.node.NodeEvent.Type.CREATED;
import static io.conclave.node.NodeEvent.Type.DATA_CHANGED;
import static io.conclave.node.NodeEvent.Type.DELETED;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.Bytes;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.node.Permission;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The znodes and the rules of the requests that change them, checked in the order in which ZooKeeper checks them. No
 * clock, no threads: the change brings its number and time. Guarded by the store's lock.
 */
final class MemoryTree {
    /** The most data that a znode holds. */
    static final int MAX_DATA_BYTES = 1024 * 1024;

    private final Map<NodePath, Node> nodes = new HashMap<>();
    private final Map<Long, Set<NodePath>> ephemerals = new HashMap<>();
    private final Set<NodePath> containers = new LinkedHashSet<>();
    private final Set<NodePath> withTtl = new LinkedHashSet<>();

    MemoryTree() {
        nodes.put(NodePath.ROOT, new Node(0, 0, Bytes.empty(), Acl.OPEN, 0, false, 0));
    }

    /** Whether there is a container that has had children and has none any more. */
    boolean hasEmptyContainers() {
        return containers.stream().anyMatch(this::isEmptyContainer);
    }

    private boolean isEmptyContainer(NodePath path) {
        Node node = get(path);
        return node.createdChildren > 0 && node.children.isEmpty();
    }

    @Nullable
    Node find(NodePath path) {
        return nodes.get(path);
    }

    /** Every znode but the root. */
    SortedMap<NodePath, NodeStat> snapshot() {
        SortedMap<NodePath, NodeStat> snapshot = new TreeMap<>();
        nodes.forEach((path, node) -> {
            if (!path.isRoot()) {
                snapshot.put(path, node.stat());
            }
        });
        return snapshot;
    }

    Node get(NodePath path) {
        Node node = nodes.get(path);
        if (node == null) {
            throw new RefusedException(RefusalReason.NO_NODE, "no node " + path);
        }
        return node;
    }

    Node getReadable(NodePath path, Set<ProvenIdentity> identities) {
        Node node = get(path);
        AccessRules.require(node.acl, identities, Permission.READ, path);
        return node;
    }

    Create.Created create(MemoryChange change, Create create) {
        checkSize(create.path(), create.bytes());
        Set<ProvenIdentity> identities = change.caller.identities();
        Acl acl = AccessRules.resolve(create.acl().orElse(change.caller.defaultAcl()), identities, create.path());
        NodePath parentPath = create.path().parent().orElse(NodePath.ROOT);
        Node parent = get(parentPath);
        AccessRules.require(parent.acl, identities, Permission.CREATE, parentPath);
        NodePath path = create.mode().isSequential() ? numbered(create.path(), parent) : create.path();
        if (nodes.containsKey(path)) {
            throw new RefusedException(RefusalReason.NODE_EXISTS, "node exists: " + path);
        }
        if (parent.ephemeralOwner != 0) {
            throw new RefusedException(
                    RefusalReason.NO_CHILDREN_FOR_EPHEMERALS,
                    "cannot create " + path + ": the ephemeral " + parentPath + " cannot have children");
        }
        long owner = create.mode().isEphemeral() ? change.caller.sessionId() : 0;
        boolean isContainer = create.mode() == CreateMode.CONTAINER;
        Node node = new Node(change.zxid, change.timeMs, create.bytes(), acl, owner, isContainer, create.ttlMs());
        insert(change, path, node, parent);
        change.cause(CREATED, path, acl);
        change.cause(CHILDREN_CHANGED, parentPath, parent.acl);
        return new Create.Created(path, node.stat());
    }

    private void insert(MemoryChange change, NodePath path, Node node, Node parent) {
        long oldPzxid = parent.pzxid;
        link(path, node, parent);
        parent.createdChildren++;
        parent.pzxid = change.zxid;
        change.onUndo(() -> {
            unlink(path, node, parent);
            parent.createdChildren--;
            parent.pzxid = oldPzxid;
        });
    }

    private void link(NodePath path, Node node, Node parent) {
        nodes.put(path, node);
        parent.children.add(path.name());
        if (node.isContainer) {
            containers.add(path);
        }
        if (node.ttlMs != 0) {
            withTtl.add(path);
        }
        if (node.ephemeralOwner != 0) {
            ephemerals
                    .computeIfAbsent(node.ephemeralOwner, id -> new LinkedHashSet<>())
                    .add(path);
        }
    }

    private void unlink(NodePath path, Node node, Node parent) {
        nodes.remove(path);
        parent.children.remove(path.name());
        containers.remove(path);
        withTtl.remove(path);
        Set<NodePath> owned = ephemerals.get(node.ephemeralOwner);
        if (owned != null) {
            owned.remove(path);
            if (owned.isEmpty()) {
                ephemerals.remove(node.ephemeralOwner);
            }
        }
    }

    void delete(MemoryChange change, Delete delete) {
        NodePath path = delete.path();
        NodePath parentPath = path.parent()
                .orElseThrow(() -> new RefusedException(RefusalReason.BAD_ARGUMENTS, "the root cannot be deleted"));
        AccessRules.require(get(parentPath).acl, change.caller.identities(), Permission.DELETE, parentPath);
        Node node = get(path);
        checkVersion(path, node.version, delete.version(), "version");
        if (!node.children.isEmpty()) {
            throw new RefusedException(
                    RefusalReason.NOT_EMPTY,
                    "cannot delete " + path + ": it has " + node.children.size() + " children");
        }
        remove(change, path);
    }

    /** Deletes a znode that is there and has no children, without a check of permissions. */
    private void remove(MemoryChange change, NodePath path) {
        Node node = get(path);
        NodePath parentPath = path.parent().orElseThrow();
        Node parent = get(parentPath);
        long oldPzxid = parent.pzxid;
        unlink(path, node, parent);
        parent.pzxid = change.zxid;
        change.onUndo(() -> {
            link(path, node, parent);
            parent.pzxid = oldPzxid;
        });
        change.cause(DELETED, path, node.acl);
        change.cause(CHILDREN_CHANGED, parentPath, parent.acl);
    }

    NodeStat set(MemoryChange change, SetData set) {
        NodePath path = set.path();
        checkSize(path, set.bytes());
        Node node = get(path);
        AccessRules.require(node.acl, change.caller.identities(), Permission.WRITE, path);
        checkVersion(path, node.version, set.version(), "version");
        Bytes oldData = node.data;
        long oldZxid = node.mzxid;
        long oldTimeMs = node.mtimeMs;
        node.data = set.bytes();
        node.mzxid = change.zxid;
        node.mtimeMs = change.timeMs;
        node.version++;
        change.onUndo(() -> {
            node.data = oldData;
            node.mzxid = oldZxid;
            node.mtimeMs = oldTimeMs;
            node.version--;
        });
        change.cause(DATA_CHANGED, path, node.acl);
        return node.stat();
    }

    void check(MemoryChange change, Check check) {
        Node node = getReadable(check.path(), change.caller.identities());
        checkVersion(check.path(), node.version, check.version(), "version");
    }

    NodeStat setAcl(MemoryChange change, SetAcl setAcl) {
        NodePath path = setAcl.path();
        Acl acl = AccessRules.resolve(setAcl.acl(), change.caller.identities(), path);
        Node node = get(path);
        AccessRules.require(node.acl, change.caller.identities(), Permission.ADMIN, path);
        checkVersion(path, node.aclVersion, setAcl.aclVersion(), "ACL version");
        node.acl = acl;
        node.aclVersion++;
        return node.stat();
    }

    /** All or nothing; the caller rolls the change back when this throws. */
    List<Multi.Result> multi(MemoryChange change, Multi multi) {
        List<Multi.Result> results = new ArrayList<>();
        for (Operation<?> operation : multi.operations()) {
            try {
                results.add(part(change, operation));
            } catch (RefusedException e) {
                int index = results.size();
                throw new RefusedException(
                        e.reason(), "operation " + index + " (" + operation.describe() + "): " + e.getMessage(), index);
            }
        }
        return results;
    }

    private Multi.Result part(MemoryChange change, Operation<?> operation) {
        if (operation instanceof Create create) {
            Create.Created created = create(change, create);
            return new Multi.Result(Optional.of(created.path()), Optional.of(created.stat()));
        } else if (operation instanceof SetData set) {
            return new Multi.Result(Optional.empty(), Optional.of(set(change, set)));
        } else if (operation instanceof Delete delete) {
            delete(change, delete);
        } else if (operation instanceof Check check) {
            check(change, check);
        }
        return Multi.Result.NONE;
    }

    /** Deletes the znodes of a session that has ended. */
    void deleteEphemerals(MemoryChange change, long sessionId) {
        List.copyOf(ephemerals.getOrDefault(sessionId, Set.of())).forEach(path -> remove(change, path));
    }

    /** Deletes a znode and all below it, of any owner. */
    void deleteSubtree(MemoryChange change, NodePath path) {
        for (String name : List.copyOf(get(path).children)) {
            deleteSubtree(change, path.child(name));
        }
        remove(change, path);
    }

    /** Deletes the containers that have had children and have none any more, and then those that became empty by it. */
    void deleteEmptyContainers(MemoryChange change) {
        List<NodePath> deepestFirst = containers.stream()
                .sorted(Comparator.comparing((NodePath path) -> path.toString().length())
                        .reversed())
                .toList();
        for (NodePath path : deepestFirst) {
            if (isEmptyContainer(path)) {
                remove(change, path);
            }
        }
    }

    /** Whether there is a znode with a time to live. */
    boolean hasTtls() {
        return !withTtl.isEmpty();
    }

    boolean hasOutlived(long nowMs) {
        return withTtl.stream().anyMatch(path -> get(path).hasOutlivedItsTime(nowMs));
    }

    /** Deletes the znodes without children whose data were not set for longer than their time to live. */
    void deleteOutlived(MemoryChange change) {
        for (NodePath path : List.copyOf(withTtl)) {
            if (get(path).hasOutlivedItsTime(change.timeMs)) {
                remove(change, path);
            }
        }
    }

    private static NodePath numbered(NodePath prefix, Node parent) {
        return NodePath.of(prefix + String.format(Locale.ROOT, "%010d", parent.createdChildren));
    }

    private static void checkVersion(NodePath path, int actual, int expected, String what) {
        if (expected != -1 && expected != actual) {
            throw new RefusedException(
                    RefusalReason.BAD_VERSION, path + " has " + what + " " + actual + ", not " + expected);
        }
    }

    private static void checkSize(NodePath path, Bytes data) {
        if (data.size() > MAX_DATA_BYTES) {
            throw new RefusedException(
                    RefusalReason.BAD_ARGUMENTS,
                    "data of " + path + " has " + data.size() + " bytes; at most " + MAX_DATA_BYTES + " are allowed");
        }
    }
}
