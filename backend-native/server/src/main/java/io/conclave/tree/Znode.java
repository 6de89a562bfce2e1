package io.conclave.tree;

import org.jspecify.annotations.Nullable;

/**
 * A node of the tree, immutable. Its name is the key under which its parent holds it.
 *
 * <p>Most nodes of a large tree have never been changed since they were created, and of the others most never had a
 * child. Such a node has many fields that repeat each other, so there are three forms, and {@link #of} takes the
 * smallest that can hold the values: 48, 72 or 88 bytes.
 */
public abstract sealed class Znode {
    /** The owner of a container, which no session can have as its id. Clients see 0. */
    static final long CONTAINER_OWNER = Long.MIN_VALUE;

    /**
     * The upper 24 bits of the owner of a node with a time to live; the lower 40 bits are that time in ms. Clients see
     * 0.
     */
    private static final long TTL_MARK = 0xff0000;

    private static final int TTL_BITS = 40;

    private static final byte[] NO_BYTES = {};

    final byte @Nullable [] data;
    final ZnodeAcl acl;
    final long czxid;
    final long ctime;
    final long owner;

    private Znode(byte @Nullable [] data, ZnodeAcl acl, long czxid, long ctime, long owner) {
        this.data = data;
        this.acl = acl;
        this.czxid = czxid;
        this.ctime = ctime;
        this.owner = owner;
    }

    /** The values of a node, to be turned into the smallest form. */
    record Fields(
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
            long owner,
            PersistentMap<String, Znode> children) {}

    /** A node that has just been created. */
    static Znode created(byte @Nullable [] data, ZnodeAcl acl, long zxid, long timeMs, long owner) {
        return new Unchanged(shared(data), acl, zxid, timeMs, owner);
    }

    static Znode of(Fields f) {
        byte[] data = shared(f.data);
        boolean childless = f.children.isEmpty() && f.creations == 0 && f.pzxid == f.czxid;
        if (!childless) {
            return new Parent(data, f);
        }
        boolean unchanged = f.mzxid == f.czxid && f.mtime == f.ctime && f.version == 0 && f.aversion == 0;
        return unchanged ? new Unchanged(data, f.acl, f.czxid, f.ctime, f.owner) : new Childless(data, f);
    }

    private static byte @Nullable [] shared(byte @Nullable [] data) {
        return data != null && data.length == 0 ? NO_BYTES : data;
    }

    /** The data, null or empty as the client gave it. Not to be changed. */
    public byte @Nullable [] data() {
        return data;
    }

    /** The ACL. */
    public ZnodeAcl acl() {
        return acl;
    }

    /** The change that created the node. */
    public long czxid() {
        return czxid;
    }

    /** When it was created. */
    public long ctime() {
        return ctime;
    }

    /** The owner of a node with this time to live. */
    static long ttlOwner(long ttlMs) {
        return (TTL_MARK << TTL_BITS) | ttlMs;
    }

    /** Whether a session may have this id: not one that marks another kind of node in the place of an owner. */
    public static boolean canBeSession(long id) {
        return id != 0 && id != CONTAINER_OWNER && id >>> TTL_BITS != TTL_MARK;
    }

    /** Whether nodes with this owner are deleted by the reaper: containers, and those with a time to live. */
    static boolean isReaped(long owner) {
        return owner != 0 && !canBeSession(owner);
    }

    /** The session that the node goes with, 0 for none (containers and nodes with a time to live too). */
    public long ephemeralOwner() {
        return canBeSession(owner) ? owner : 0;
    }

    /** Whether the node goes with a session. */
    public boolean isEphemeral() {
        return ephemeralOwner() != 0;
    }

    /** Whether the node is removed some time after its last child. */
    public boolean isContainer() {
        return owner == CONTAINER_OWNER;
    }

    /** Whether the node is removed when it has no children and was not changed for its time to live. */
    public boolean hasTtl() {
        return owner >>> TTL_BITS == TTL_MARK;
    }

    /** The time to live in milliseconds, 0 for none. */
    public long ttlMs() {
        return hasTtl() ? owner & TreeOperation.MAX_TTL_MS : 0;
    }

    /**
     * Whether the reaper may delete the node. A container that never had a child is spared for a while: its creator is
     * still on the way to creating one.
     *
     * @param nowMs in the time of the log, as {@link #mtime} is
     * @param maxNeverUsedMs how long such a container is spared; 0 means no limit
     */
    boolean isReapable(long nowMs, long maxNeverUsedMs) {
        if (!children().isEmpty()) {
            return false;
        }
        long unchangedMs = nowMs - mtime();
        if (hasTtl()) {
            return unchangedMs > ttlMs();
        }
        boolean neverUsedForTooLong = maxNeverUsedMs != 0 && unchangedMs > maxNeverUsedMs;
        return isContainer() && (creations() != 0 || neverUsedForTooLong);
    }

    /** The change that last set the data. */
    public abstract long mzxid();

    /** The change that last added or removed a child. */
    public abstract long pzxid();

    /** When the data was last set. */
    public abstract long mtime();

    /** How often the data was set. */
    public abstract int version();

    /** How often a child was created, which is where sequence suffixes come from. */
    public abstract int creations();

    /** How often the ACL was set. */
    public abstract int aversion();

    /** The children by name. */
    public abstract PersistentMap<String, Znode> children();

    /** What a client sees. Of the children's changes it sees creations and deletions together. */
    public final ZnodeStat stat() {
        int numChildren = children().size();
        return new ZnodeStat(
                czxid,
                mzxid(),
                ctime,
                mtime(),
                version(),
                2 * creations() - numChildren,
                aversion(),
                ephemeralOwner(),
                dataLength(),
                numChildren,
                pzxid());
    }

    final int dataLength() {
        return data == null ? 0 : data.length;
    }

    final Znode withData(byte @Nullable [] newData, long zxid, long timeMs) {
        return with(newData, acl, zxid, pzxid(), timeMs, version() + 1, creations(), aversion(), children());
    }

    /** The server's own entry in its data: no client set it, so its Stat stays. */
    final Znode withUsage(byte[] usage) {
        return with(usage, acl, mzxid(), pzxid(), mtime(), version(), creations(), aversion(), children());
    }

    final Znode withAcl(ZnodeAcl newAcl) {
        return with(data, newAcl, mzxid(), pzxid(), mtime(), version(), creations(), aversion() + 1, children());
    }

    /** A child is created; the count wraps from 2^31 - 1 to -2^31. */
    final Znode withNewChild(String name, Znode child, long zxid) {
        return withChildren(children().put(name, child), creations() + 1, zxid);
    }

    final Znode withoutChild(String name, long zxid) {
        return withChildren(children().remove(name), creations(), zxid);
    }

    /** Something below has changed, this node itself has not. */
    final Znode withReplacedChild(String name, Znode child) {
        return withChildren(children().put(name, child), creations(), pzxid());
    }

    final Znode withChildren(BulkEdit<String, Znode, ?> edit, long newPzxid) {
        return withChildren(edit.applyTo(children()), creations(), newPzxid);
    }

    private Znode withChildren(PersistentMap<String, Znode> newChildren, int newCreations, long newPzxid) {
        return with(data, acl, mzxid(), newPzxid, mtime(), version(), newCreations, aversion(), newChildren);
    }

    /** What never changes in a node's life stays: its creation and its owner. */
    private Znode with(
            byte @Nullable [] newData,
            ZnodeAcl newAcl,
            long mzxid,
            long pzxid,
            long mtime,
            int version,
            int creations,
            int aversion,
            PersistentMap<String, Znode> children) {
        return of(new Fields(
                newData, newAcl, czxid, mzxid, pzxid, ctime, mtime, version, creations, aversion, owner, children));
    }

    /** Never changed since it was created. */
    private static final class Unchanged extends Znode {
        Unchanged(byte @Nullable [] data, ZnodeAcl acl, long czxid, long ctime, long owner) {
            super(data, acl, czxid, ctime, owner);
        }

        @Override
        public long mzxid() {
            return czxid;
        }

        @Override
        public long pzxid() {
            return czxid;
        }

        @Override
        public long mtime() {
            return ctime;
        }

        @Override
        public int version() {
            return 0;
        }

        @Override
        public int creations() {
            return 0;
        }

        @Override
        public int aversion() {
            return 0;
        }

        @Override
        public PersistentMap<String, Znode> children() {
            return PersistentMap.empty();
        }
    }

    /** Changed, but never with a child. */
    private static final class Childless extends Znode {
        private final long mzxid;
        private final long mtime;
        private final int version;
        private final int aversion;

        Childless(byte @Nullable [] data, Fields f) {
            super(data, f.acl, f.czxid, f.ctime, f.owner);
            mzxid = f.mzxid;
            mtime = f.mtime;
            version = f.version;
            aversion = f.aversion;
        }

        @Override
        public long mzxid() {
            return mzxid;
        }

        @Override
        public long pzxid() {
            return czxid;
        }

        @Override
        public long mtime() {
            return mtime;
        }

        @Override
        public int version() {
            return version;
        }

        @Override
        public int creations() {
            return 0;
        }

        @Override
        public int aversion() {
            return aversion;
        }

        @Override
        public PersistentMap<String, Znode> children() {
            return PersistentMap.empty();
        }
    }

    /** Has or had children. */
    private static final class Parent extends Znode {
        private final long mzxid;
        private final long pzxid;
        private final long mtime;
        private final int version;
        private final int creations;
        private final int aversion;
        private final PersistentMap<String, Znode> children;

        Parent(byte @Nullable [] data, Fields f) {
            super(data, f.acl, f.czxid, f.ctime, f.owner);
            mzxid = f.mzxid;
            pzxid = f.pzxid;
            mtime = f.mtime;
            version = f.version;
            creations = f.creations;
            aversion = f.aversion;
            children = f.children;
        }

        @Override
        public long mzxid() {
            return mzxid;
        }

        @Override
        public long pzxid() {
            return pzxid;
        }

        @Override
        public long mtime() {
            return mtime;
        }

        @Override
        public int version() {
            return version;
        }

        @Override
        public int creations() {
            return creations;
        }

        @Override
        public int aversion() {
            return aversion;
        }

        @Override
        public PersistentMap<String, Znode> children() {
            return children;
        }
    }
}
