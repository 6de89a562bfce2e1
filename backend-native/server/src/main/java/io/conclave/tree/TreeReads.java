package io.conclave.tree;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What can be asked of a state. Every method takes the ids that the caller's connection has proved, and throws
 * {@link TreeException} where ZooKeeper answers with an error. Nothing blocks; any thread may call.
 */
public final class TreeReads {
    /** Names that have as many characters are rare; fewer names than would need such ones are not looked at. */
    private static final int LONG_NAME = 4 << 10;

    private TreeReads() {}

    /** The data of a node, null or empty as it was given, and its Stat. The array is not to be changed. */
    public record Data(byte @Nullable [] bytes, ZnodeStat stat) {}

    /** The Stat of a node and the names of its children, in an order that means nothing, the same on every member. */
    public record Children(List<String> names, ZnodeStat stat) {}

    /** The ACL of a node, and its Stat. */
    public record AccessList(ZnodeAcl acl, ZnodeStat stat) {}

    /**
     * The Stat of a node.
     *
     * @throws TreeException NO_NODE, NO_AUTH without READ, BAD_ARGUMENTS for a NUL in the path
     */
    public static ZnodeStat exists(TreeState state, String path, List<AuthId> callerIds) {
        if (path.indexOf('\0') >= 0) {
            throw TreeException.of(TreeError.BAD_ARGUMENTS);
        }
        return readable(state, path, callerIds).stat();
    }

    /**
     * The data of a node.
     *
     * @throws TreeException NO_NODE, NO_AUTH without READ
     */
    public static Data data(TreeState state, String path, List<AuthId> callerIds) {
        return data(state, path, new Caller(callerIds));
    }

    /** The same for a caller that reads much at once. */
    public static Data data(TreeState state, String path, Caller caller) {
        Znode node = readable(state, path, caller);
        return new Data(node.data(), node.stat());
    }

    /**
     * The children of a node.
     *
     * @throws TreeException NO_NODE, NO_AUTH without READ
     */
    public static Children children(TreeState state, String path, List<AuthId> callerIds) {
        Znode node = readable(state, path, callerIds);
        List<String> names = new ArrayList<>(node.children().size());
        node.children().forEach((name, child) -> names.add(name));
        return new Children(names, node.stat());
    }

    /**
     * The names of a node's children, to be listed step by step.
     *
     * @throws TreeException NO_NODE, NO_AUTH without READ
     */
    public static ChildNames childNames(TreeState state, String path, List<AuthId> callerIds) {
        return childNames(state, path, new Caller(callerIds));
    }

    /** The same for a caller that reads much at once. */
    public static ChildNames childNames(TreeState state, String path, Caller caller) {
        return new ChildNames(readable(state, path, caller));
    }

    /**
     * How many children a node has; 0 if there is none. No permission is asked for: the caller's client is not told.
     */
    public static int childCount(TreeState state, String path) {
        Znode node = state.find(path);
        return node == null ? 0 : node.children().size();
    }

    /**
     * Whether the names of a node's children have more than so many characters together; false where each would need
     * more than 4 kB for that.
     */
    public static boolean hasLongNames(TreeState state, String path, int characters) {
        Znode node = state.find(path);
        if (node == null || node.children().size() <= characters / LONG_NAME) {
            return false;
        }
        int left = characters;
        Iterator<Map.Entry<String, Znode>> children = node.children().iterator();
        while (left >= 0 && children.hasNext()) {
            left -= children.next().getKey().length();
        }
        return left < 0;
    }

    /** How many characters the names of a node's children have together; looks at all of them. */
    public static long nameCharacters(TreeState state, String path) {
        Znode node = state.find(path);
        long characters = 0;
        if (node != null) {
            for (Map.Entry<String, Znode> child : node.children()) {
                characters += child.getKey().length();
            }
        }
        return characters;
    }

    /** The same as {@link #hasLongNames} of the paths of a session's ephemeral nodes. */
    public static boolean hasLongEphemerals(TreeState state, long sessionId, int characters) {
        SessionRecord session = state.sessions().get(sessionId);
        if (session == null || session.ephemerals().size() <= characters / LONG_NAME) {
            return false;
        }
        int left = characters;
        Iterator<String> paths = session.ephemerals().iterator();
        while (left >= 0 && paths.hasNext()) {
            left -= paths.next().length();
        }
        return left < 0;
    }

    /** How many bytes of data a node has; 0 if there is none. As for the number of children, nobody is told. */
    public static int dataLength(TreeState state, String path) {
        Znode node = state.find(path);
        return node == null ? 0 : node.dataLength();
    }

    /**
     * The ACL of a node. A caller without ADMIN sees the users of digest entries and not their digests.
     *
     * @throws TreeException NO_NODE, NO_AUTH with neither READ nor ADMIN
     */
    public static AccessList acl(TreeState state, String path, List<AuthId> callerIds) {
        Znode node = existing(state, path);
        Caller caller = new Caller(callerIds);
        caller.check(node.acl(), PermissionBits.READ | PermissionBits.ADMIN);
        ZnodeAcl shown = caller.may(node.acl(), PermissionBits.ADMIN)
                ? node.acl()
                : node.acl().masked();
        return new AccessList(shown, node.stat());
    }

    /**
     * How many nodes there are below a node, to be counted step by step.
     *
     * @throws TreeException NO_NODE, NO_AUTH without READ
     */
    public static DescendantCount descendants(TreeState state, String path, List<AuthId> callerIds) {
        return new DescendantCount(readable(state, path, callerIds));
    }

    /** The paths of a session's ephemeral nodes that start with a prefix, in order; none for an unknown session. */
    public static List<String> ephemerals(TreeState state, long sessionId, String prefix) {
        List<String> paths = new ArrayList<>();
        ephemeralPaths(state, sessionId, prefix).advance(Integer.MAX_VALUE, paths::add);
        paths.sort(null);
        return paths;
    }

    /** The same to be listed step by step, in an order that means nothing, the same on every member. */
    public static EphemeralPaths ephemeralPaths(TreeState state, long sessionId, String prefix) {
        SessionRecord session = state.sessions().get(sessionId);
        return new EphemeralPaths(session == null ? PersistentSet.empty() : session.ephemerals(), prefix);
    }

    static List<String> reapable(TreeState state, long nowMs, long maxNeverUsedMs, int limit) {
        List<String> paths = new ArrayList<>();
        for (String path : state.reaped()) {
            if (paths.size() >= limit) {
                break;
            }
            Znode node = state.find(path);
            if (node != null && node.isReapable(nowMs, maxNeverUsedMs)) {
                paths.add(path);
            }
        }
        return paths;
    }

    private static Znode readable(TreeState state, String path, List<AuthId> callerIds) {
        return readable(state, path, new Caller(callerIds));
    }

    private static Znode readable(TreeState state, String path, Caller caller) {
        Znode node = existing(state, path);
        caller.check(node.acl(), PermissionBits.READ);
        return node;
    }

    private static Znode existing(TreeState state, String path) {
        Znode node = state.find(path);
        if (node == null) {
            throw TreeException.of(TreeError.NO_NODE);
        }
        return node;
    }
}
