package io.conclave.tree;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A state put together from the znodes of another system, which no change of ours has made. */
public final class ImportedState {
    private static final String ROOT = "/";
    private static final String SYSTEM = "/zookeeper";

    private ImportedState() {}

    /**
     * A znode, with the meaning of ZooKeeper's stored Stat.
     *
     * @param creations how often a child was created: ZooKeeper's stored cversion
     * @param owner a session, 0, or what marks a container or a time to live
     */
    public record Imported(
            byte @Nullable [] data,
            ZnodeAcl acl,
            long czxid,
            long mzxid,
            long pzxid,
            long ctime,
            long mtime,
            int version,
            int creations,
            int aversion,
            long owner) {}

    /**
     * The state, with the usage of its quotas counted anew.
     *
     * @param znodes by path; {@code /} and the znodes of {@code /zookeeper} are added if they are missing
     * @param featureLevel that is in force from the beginning
     * @throws IllegalArgumentException if a znode has no parent, or an owner that cannot be
     */
    public static TreeState of(Map<String, Imported> znodes, int featureLevel, long lastZxid, long lastTimeMs) {
        Map<String, Imported> all = new HashMap<>(znodes);
        TreeState initial = TreeState.initial(new UUID(0, 0), 0);
        for (String path : List.of(ROOT, SYSTEM, Quota.DIRECTORY, ZnodePath.CONFIG)) {
            all.putIfAbsent(path, imported(initial.znode(path).orElseThrow()));
        }
        long before = Math.max(0, lastZxid - 1); // what begins the counting takes a number as well
        TreeState state = assembled(all, Math.min(featureLevel, Change.QUOTA_FEATURE_LEVEL - 1), before, lastTimeMs);
        return Tree.apply(state, new Change.RaiseFeatureLevel(featureLevel), lastTimeMs)
                .state();
    }

    private static Imported imported(Znode node) {
        return new Imported(
                node.data(),
                node.acl(),
                node.czxid(),
                node.mzxid(),
                node.pzxid(),
                node.ctime(),
                node.mtime(),
                node.version(),
                node.creations(),
                node.aversion(),
                0);
    }

    /** Longer paths first, so that a znode's children are all there when it is made. */
    private static TreeState assembled(Map<String, Imported> all, int featureLevel, long lastZxid, long lastTimeMs) {
        Map<String, PersistentMap<String, Znode>> children = new HashMap<>();
        PersistentMap<Long, SessionRecord> sessions = PersistentMap.empty();
        PersistentSet<String> reaped = PersistentSet.empty();
        AclUses acls = AclUses.NONE;
        long bytes = 0;
        long ephemerals = 0;
        List<Map.Entry<String, Imported>> longestFirst = new ArrayList<>(all.entrySet());
        longestFirst.sort(Comparator.comparingInt(entry -> -entry.getKey().length()));
        for (Map.Entry<String, Imported> entry : longestFirst) {
            String path = entry.getKey();
            Imported from = entry.getValue();
            ZnodeAcl acl = acls.shared(from.acl());
            PersistentMap<String, Znode> below = children.remove(path);
            Znode node = znode(from, acl, below == null ? PersistentMap.empty() : below);
            acls = acls.with(acl);
            bytes += path.length() + node.dataLength();
            if (Znode.isReaped(node.owner)) {
                reaped = reaped.with(path);
            } else if (node.isEphemeral()) {
                ephemerals++;
                SessionRecord session = sessions.get(node.owner);
                SessionRecord owner = session == null ? session(node.owner) : session;
                sessions =
                        sessions.put(node.owner, owner.with(owner.ephemerals().with(path)));
            }
            if (path.equals(ROOT)) {
                requireNoneLeft(children);
                return counted(
                        new TreeState.Header(new UUID(0, 0), 0, featureLevel, epochOf(lastZxid), lastZxid, lastTimeMs),
                        node,
                        sessions,
                        reaped,
                        new TreeState.Totals(all.size(), bytes, ephemerals, 0, acls));
            }
            int slash = path.lastIndexOf('/');
            children.merge(
                    slash == 0 ? ROOT : path.substring(0, slash),
                    PersistentMap.<String, Znode>empty().put(path.substring(slash + 1), node),
                    (there, one) -> there.put(path.substring(slash + 1), node));
        }
        throw new AssertionError("no root");
    }

    private static Znode znode(Imported from, ZnodeAcl acl, PersistentMap<String, Znode> children) {
        return Znode.of(new Znode.Fields(
                from.data(),
                acl,
                from.czxid(),
                from.mzxid(),
                from.pzxid(),
                from.ctime(),
                from.mtime(),
                from.version(),
                from.creations(),
                from.aversion(),
                from.owner(),
                children));
    }

    /** It is closed before anybody can take it up. */
    private static SessionRecord session(long id) {
        return new SessionRecord(
                id, SessionPassword.of(new byte[SessionPassword.BYTES]), 1, 0, 0, PersistentSet.empty());
    }

    private static long epochOf(long zxid) {
        return Math.max(1, zxid >>> Integer.SIZE);
    }

    private static void requireNoneLeft(Map<String, PersistentMap<String, Znode>> children) {
        if (!children.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no znode " + children.keySet().iterator().next() + ", but it has children");
        }
    }

    private static TreeState counted(
            TreeState.Header header,
            Znode root,
            PersistentMap<Long, SessionRecord> sessions,
            PersistentSet<String> reaped,
            TreeState.Totals totals) {
        TreeState state = new TreeState(header, root, sessions, reaped, totals);
        return state.withDigest(TreeDigest.sum(state));
    }
}
