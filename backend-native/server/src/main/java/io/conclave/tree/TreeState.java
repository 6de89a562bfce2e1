package io.conclave.tree;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The whole replicated state after some change: an immutable value that any thread may read for as long as it likes.
 * {@link Tree#apply} makes the next one; the two share what has not changed.
 */
public final class TreeState {
    private final Header header;
    private final Znode root;
    private final PersistentMap<Long, SessionRecord> sessions;
    private final PersistentSet<String> reaped;
    private final Totals totals;

    /** The state of no cluster, where the real one is not known yet. */
    public static final TreeState OF_NO_CLUSTER = initial(new UUID(0, 0), 0);

    /**
     * What stands beside the tree and the sessions.
     *
     * @param clusterId which cluster the state belongs to
     * @param generation compared before zxids in fencing tokens; raised when a cluster's numbers were re-wound
     * @param featureLevel which semantics are switched on
     * @param term the last leader's term
     * @param lastZxid the last change's number
     * @param lastTimeMs the last change's time, which never decreases
     */
    record Header(UUID clusterId, long generation, int featureLevel, long term, long lastZxid, long lastTimeMs) {}

    /**
     * Sums over all nodes, kept because counting takes long.
     *
     * @param nodes how many there are
     * @param bytes of their paths (in chars) and data
     * @param ephemerals how many of them go with a session
     * @param digest see {@link TreeDigest}; of the sessions as well
     * @param acls those that are not open
     */
    record Totals(long nodes, long bytes, long ephemerals, long digest, AclUses acls) {}

    /** Of a cluster that has just been bootstrapped: there is nothing new in it. */
    public static final int INITIAL_FEATURE_LEVEL = 0;

    /** A node with its name and its share of the parent's map, without its data and the characters of its name. */
    private static final long NODE_BYTES = 150;

    /** What belongs to an ephemeral node beside that, in its session's record. */
    private static final long EPHEMERAL_BYTES = 150;

    /** A session's record and its lease. */
    private static final long SESSION_BYTES = 600;

    TreeState(
            Header header,
            Znode root,
            PersistentMap<Long, SessionRecord> sessions,
            PersistentSet<String> reaped,
            Totals totals) {
        this.header = header;
        this.root = root;
        this.sessions = sessions;
        this.reaped = reaped;
        this.totals = totals;
    }

    /**
     * The state of a cluster that has just been bootstrapped: {@code /}, {@code /zookeeper} and its two children, with
     * the Stats that ZooKeeper gives them.
     *
     * @param generation see {@link #generation()}
     */
    public static TreeState initial(UUID clusterId, long generation) {
        Znode quota = Znode.created(new byte[0], ZnodeAcl.OPEN, 0, 0, 0);
        Znode config = initialNode(ZnodeAcl.READ_ONLY, -1, PersistentMap.empty());
        Znode zookeeper = initialNode(
                ZnodeAcl.OPEN,
                0,
                PersistentMap.<String, Znode>empty().put("quota", quota).put("config", config));
        Znode root = initialNode(
                ZnodeAcl.OPEN, 0, PersistentMap.<String, Znode>empty().put("zookeeper", zookeeper));
        long pathChars = "//zookeeper/zookeeper/quota/zookeeper/config".length();
        TreeState uncounted = new TreeState(
                new Header(clusterId, generation, INITIAL_FEATURE_LEVEL, 0, 0, 0),
                root,
                PersistentMap.empty(),
                PersistentSet.empty(),
                new Totals(4, pathChars, 0, 0, AclUses.NONE.with(ZnodeAcl.READ_ONLY)));
        return uncounted.withDigest(TreeDigest.sum(uncounted));
    }

    /** A node that no client created: it has children but no creations, and ACL versions may start below 0. */
    private static Znode initialNode(ZnodeAcl acl, int aversion, PersistentMap<String, Znode> children) {
        return Znode.of(new Znode.Fields(new byte[0], acl, 0, 0, 0, 0, 0, 0, 0, aversion, 0, children));
    }

    /** The same state with a larger generation: for restore, import, and each start of a memory-only server. */
    public TreeState withGeneration(long generation) {
        Header raised = new Header(
                header.clusterId, generation, header.featureLevel, header.term, header.lastZxid, header.lastTimeMs);
        return new TreeState(raised, root, sessions, reaped, totals);
    }

    TreeState withDigest(long sum) {
        return new TreeState(
                header,
                root,
                sessions,
                reaped,
                new Totals(totals.nodes, totals.bytes, totals.ephemerals, sum, totals.acls));
    }

    /** Which cluster the state belongs to. */
    public UUID clusterId() {
        return header.clusterId;
    }

    /** The first half of fencing tokens, larger after anything that may have re-wound zxids. */
    public long generation() {
        return header.generation;
    }

    /** Which semantics are switched on. */
    public int featureLevel() {
        return header.featureLevel;
    }

    /** The term of the last {@link Change.NewTerm}. */
    public long term() {
        return header.term;
    }

    /** The number of the last change. */
    public long lastZxid() {
        return header.lastZxid;
    }

    /** The upper half of the last zxid. */
    public long epoch() {
        return header.lastZxid >>> 32;
    }

    /** The time of the last change, in milliseconds. */
    public long lastTimeMs() {
        return header.lastTimeMs;
    }

    /** The sessions by id. */
    public PersistentMap<Long, SessionRecord> sessions() {
        return sessions;
    }

    /** A session, empty if it has ended or never was. */
    public Optional<SessionRecord> session(long id) {
        return Optional.ofNullable(sessions.get(id));
    }

    /** The paths of all containers and of all nodes with a time to live: where the reaper looks. */
    public PersistentSet<String> reaped() {
        return reaped;
    }

    /**
     * What the reaper may delete now: containers that have had children and have none, and nodes without children that
     * were not changed for their time to live. Looks at every path of {@link #reaped}.
     *
     * @param nowMs in the time of the log
     * @param maxNeverUsedMs after which a container goes that has never had a child; 0 for never
     * @param limit how many at most
     */
    public List<String> reapable(long nowMs, long maxNeverUsedMs, int limit) {
        return TreeReads.reapable(this, nowMs, maxNeverUsedMs, limit);
    }

    /** The root of the tree. */
    public Znode root() {
        return root;
    }

    /** The node at a path, without asking any ACL. */
    public Optional<Znode> znode(String path) {
        return Optional.ofNullable(find(path));
    }

    @Nullable
    Znode find(String path) {
        return Trail.find(root, path);
    }

    /** How many nodes there are, the root included. */
    public long nodeCount() {
        return totals.nodes;
    }

    /** How many nodes go with a session. */
    public long ephemeralCount() {
        return totals.ephemerals;
    }

    /** The characters of all paths and the bytes of all data. */
    public long approximateDataBytes() {
        return totals.bytes;
    }

    /**
     * What the state takes on the heap, about, and rather more than less; kept, so that asking is cheap. It is the same
     * on all members.
     */
    public long approximateHeapBytes() {
        return approximateHeapBytes(totals.nodes, totals.bytes, totals.ephemerals, sessions.size())
                + EPHEMERAL_BYTES * reaped.size()
                + totals.acls.bytes();
    }

    /** The same of a state of which no more is known. */
    public static long approximateHeapBytes(long nodes, long dataBytes, long ephemerals, long sessions) {
        return NODE_BYTES * nodes + dataBytes + EPHEMERAL_BYTES * ephemerals + SESSION_BYTES * sessions;
    }

    Header header() {
        return header;
    }

    Totals totals() {
        return totals;
    }

    /**
     * A number that is the same for equal states, however they came about, and hardly ever for others. It is carried
     * along with each change, so asking for it is cheap.
     */
    public long digest() {
        return TreeDigest.of(this);
    }

    /**
     * Whether the digest is that of what is here, found out by a walk over the whole tree. If not, memory is damaged.
     */
    public boolean hasRightDigest() {
        return TreeDigest.sum(this) == totals.digest;
    }

    @Override
    public String toString() {
        return "TreeState[zxid 0x" + Long.toHexString(lastZxid()) + ", " + nodeCount() + " nodes, " + sessions.size()
                + " sessions]";
    }
}
