package io.conclave.tree;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state in the making: starts as one state, takes the steps of one change, ends as the next. A step that throws
 * {@link TreeException} spoils nothing but this object, which is then dropped; that is how a multi takes all of its
 * steps or none. The checks of each step come in ZooKeeper's order, so that the same request meets the same error.
 */
final class TreeEdit {
    private final long zxid;
    private final long timeMs;
    private final List<TreeEvent> events = new ArrayList<>(2);
    private final TreeState from;
    private int featureLevel;
    private boolean enforcesQuotas;
    private long term;
    private Znode root;
    private PersistentMap<Long, SessionRecord> sessions;
    private PersistentSet<String> reaped;
    private long nodes;
    private long bytes;
    private long ephemerals;
    private long digest;
    private AclUses acls;
    private final List<AuthId> callerIds;
    private final Caller caller;

    /** What was asked for, and what it is for this caller. */
    private final Map<ZnodeAcl, ZnodeAcl> resolved = new HashMap<>();

    /** @param callerIds what the caller has proved; none for what no client asked for */
    TreeEdit(TreeState from, long zxid, long timeMs, List<AuthId> callerIds) {
        this.from = from;
        this.callerIds = callerIds;
        this.caller = new Caller(callerIds);
        this.zxid = zxid;
        this.timeMs = timeMs;
        featureLevel = from.featureLevel();
        term = from.term();
        root = from.root();
        sessions = from.sessions();
        reaped = from.reaped();
        nodes = from.totals().nodes();
        bytes = from.totals().bytes();
        ephemerals = from.totals().ephemerals();
        digest = from.totals().digest();
        acls = from.totals().acls();
    }

    TreeState state() {
        TreeState.Header header =
                new TreeState.Header(from.clusterId(), from.generation(), featureLevel, term, zxid, timeMs);
        return new TreeState(
                header, root, sessions, reaped, new TreeState.Totals(nodes, bytes, ephemerals, digest, acls));
    }

    List<TreeEvent> events() {
        return events;
    }

    Result create(TreeOperation.Create create, long sessionId) {
        int slash = ZnodePath.lastSlash(create.path());
        ZnodeAcl acl = resolved(create.acl());
        Trail trail = Trail.of(root, create.path().substring(0, slash));
        Znode parent = trail.node();
        caller.check(parent.acl(), PermissionBits.CREATE);
        String path = create.mode().isSequential() ? create.path() + suffix(parent.creations()) : create.path();
        ZnodePath.validate(path);
        String name = path.substring(slash + 1);
        if (name.isEmpty() || parent.children().containsKey(name)) {
            throw TreeException.of(TreeError.NODE_EXISTS); // the empty name is that of the root
        }
        if (parent.isEphemeral()) {
            throw TreeException.of(TreeError.NO_CHILDREN_FOR_EPHEMERALS);
        }
        checkQuota(path, 1, create.data() == null ? 0 : create.data().length);
        long owner = ownerOf(create, sessionId);
        Znode node = Znode.created(create.data(), acls.shared(acl), zxid, timeMs, owner);
        Znode parentAfter = parent.withNewChild(name, node, zxid);
        root = trail.rootWith(parentAfter);
        childrenDigested(TreeDigest.path(path, slash), parent, parentAfter);
        added(path, node);
        events.add(new TreeEvent(TreeEvent.Type.CREATED, path, zxid, node.acl()));
        childrenChanged(path, slash, parent);
        usageBegins(path);
        used(path, 1, node.dataLength());
        return new Result.Created(path, node.stat());
    }

    /** Lists with {@code auth} can become very long, and each part of a multi can ask for the same one. */
    private ZnodeAcl resolved(ZnodeAcl requested) {
        if (requested.equals(ZnodeAcl.OPEN)) {
            return ZnodeAcl.OPEN;
        }
        ZnodeAcl known = resolved.get(requested);
        if (known == null) {
            known = acls.shared(requested.resolvedFor(callerIds));
            resolved.put(requested, known);
        }
        return known;
    }

    /** Ten digits at least; after 2^31 - 1 comes -2147483648, which a signed difference still puts behind it. */
    private static String suffix(int creations) {
        if (creations < 0) {
            return String.format(Locale.ROOT, "%010d", creations);
        }
        String digits = Integer.toString(creations); // the formatter takes longer than all the rest of a create
        return "0".repeat(10 - digits.length()) + digits;
    }

    private static long ownerOf(TreeOperation.Create create, long sessionId) {
        if (create.mode() == ZnodeKind.CONTAINER) {
            return Znode.CONTAINER_OWNER;
        }
        if (create.mode().hasTtl()) {
            return Znode.ttlOwner(create.ttlMs());
        }
        return create.mode().isEphemeral() ? sessionId : 0;
    }

    Result delete(TreeOperation.Delete delete) {
        Trail trail = trailToDelete(delete.path());
        caller.check(trail.parent().acl(), PermissionBits.DELETE);
        Znode node = trail.node();
        checkVersion(node.version(), delete.version());
        checkEmpty(node);
        remove(delete.path(), trail);
        return new Result.Deleted();
    }

    /** The change's time decides, which is in the log; so all members decide alike. */
    Result deleteContainer(Change.DeleteContainer delete) {
        Trail trail = trailToDelete(delete.path());
        Znode node = trail.node();
        checkEmpty(node);
        if (!node.isReapable(timeMs, delete.maxNeverUsedMs())) {
            throw TreeException.of(TreeError.BAD_VERSION);
        }
        remove(delete.path(), trail);
        return new Result.Deleted();
    }

    private Trail trailToDelete(String path) {
        ZnodePath.lastSlash(path);
        if (ZnodePath.isProtected(path)) {
            throw TreeException.of(TreeError.BAD_ARGUMENTS);
        }
        return Trail.of(root, path);
    }

    private void remove(String path, Trail trail) {
        Znode parent = trail.parent();
        Znode node = trail.node();
        int slash = path.lastIndexOf('/');
        Znode parentAfter = parent.withoutChild(trail.name(), zxid);
        root = trail.rootWithParent(parentAfter);
        childrenDigested(TreeDigest.path(path, slash), parent, parentAfter);
        removed(path, node);
        events.add(new TreeEvent(TreeEvent.Type.DELETED, path, zxid, node.acl()));
        childrenChanged(path, slash, parent);
        used(path, -1, -node.dataLength());
    }

    Result setData(TreeOperation.SetData set) {
        ZnodePath.validate(set.path());
        Trail trail = Trail.of(root, set.path());
        Znode before = trail.node();
        caller.check(before.acl(), PermissionBits.WRITE);
        int moreBytes = (set.data() == null ? 0 : set.data().length) - before.dataLength();
        checkQuota(set.path(), 0, moreBytes);
        checkVersion(before.version(), set.version());
        Znode after = before.withData(set.data(), zxid, timeMs);
        root = trail.rootWith(after);
        contentDigested(set.path(), before, after);
        bytes += moreBytes;
        used(set.path(), 0, moreBytes);
        events.add(new TreeEvent(TreeEvent.Type.DATA_CHANGED, set.path(), zxid, after.acl()));
        return new Result.DataSet(after.stat());
    }

    Result setAcl(TreeOperation.SetAcl set) {
        ZnodePath.validate(set.path());
        ZnodeAcl acl = resolved(set.acl());
        Trail trail = Trail.of(root, set.path());
        Znode before = trail.node();
        caller.check(before.acl(), PermissionBits.ADMIN);
        checkVersion(before.aversion(), set.version());
        Znode after = before.withAcl(acls.shared(acl));
        acls = acls.without(before.acl()).with(after.acl());
        root = trail.rootWith(after);
        contentDigested(set.path(), before, after);
        return new Result.AclSet(after.stat());
    }

    Result check(TreeOperation.Check check) {
        ZnodePath.validate(check.path());
        Znode node = Trail.of(root, check.path()).node();
        caller.check(node.acl(), PermissionBits.READ);
        checkVersion(node.version(), check.version());
        return new Result.Checked();
    }

    Result openSession(Change.OpenSession open) {
        if (!canOpen(open.id()) || sessions.containsKey(open.id())) {
            throw TreeException.of(TreeError.BAD_ARGUMENTS);
        }
        return attach(new SessionRecord(open.id(), open.password(), open.timeoutMs(), zxid, 0, PersistentSet.empty()));
    }

    /** Ids that look like the owner of a node with a time to live were sessions' before there were such nodes. */
    private boolean canOpen(long id) {
        return featureLevel >= Change.TTL_FEATURE_LEVEL
                ? Znode.canBeSession(id)
                : id != 0 && id != Znode.CONTAINER_OWNER;
    }

    Result resumeSession(Change.ResumeSession resume) {
        SessionRecord session = session(resume.id());
        if (!session.password().equals(resume.password())) {
            throw TreeException.of(TreeError.SESSION_EXPIRED);
        }
        return attach(session.attached(zxid, resume.timeoutMs()));
    }

    private Result attach(SessionRecord session) {
        put(session);
        return new Result.SessionAttached(session);
    }

    /** The ephemerals go in the order of their paths: an order that every member finds. */
    Result closeSession(Change.CloseSession close) {
        if (close.attachment() != Change.ANY_ATTACHMENT) {
            checkAttachment(close.id(), close.attachment());
        }
        return end(close.id(), close.reason());
    }

    /** All at once, since there may be very many of them, and nothing else happens on any member meanwhile. */
    private Result end(long sessionId, Change.CloseReason reason) {
        SessionRecord session = session(sessionId);
        Removals removals = new Removals();
        BulkRemoval removal = new BulkRemoval(root, removals);
        session.ephemerals().forEach(removal::remove);
        root = removal.rootAfter(zxid);
        removals.freed.forEach(this::used);
        sessions = sessions.remove(sessionId);
        digest -= TreeDigest.session(session);
        return new Result.SessionClosed(sessionId, reason);
    }

    private final class Removals implements BulkRemoval.Listener {
        /** What goes, by the quota that it counted for before anything went. */
        final Map<String, QuotaText> freed = new TreeMap<>();

        @Override
        public void removed(String path, Znode node, BulkRemoval.Parent parent) {
            nodes--;
            ephemerals--;
            bytes -= path.length() + node.dataLength();
            digest -= TreeDigest.node(TreeDigest.path(path), node);
            acls = acls.without(node.acl());
            String top = featureLevel < Change.QUOTA_FEATURE_LEVEL ? null : Quota.topOf(root, path);
            if (top != null) {
                freed.merge(
                        top, QuotaText.of(-1, -node.dataLength()), (all, one) -> all.plus(one.count(), one.bytes()));
            }
            events.add(new TreeEvent(TreeEvent.Type.DELETED, path, zxid, node.acl()));
            events.add(new TreeEvent(
                    TreeEvent.Type.CHILDREN_CHANGED,
                    parent.path(),
                    zxid,
                    parent.node().acl()));
        }

        @Override
        public void changed(BulkRemoval.Parent parent, Znode after) {
            childrenDigested(TreeDigest.path(parent.path()), parent.node(), after);
        }
    }

    /** One that names no term is from an earlier version. */
    Result suspectSession(Change.SuspectSession suspect) {
        checkAttachment(suspect.id(), suspect.attachment());
        if (suspect.term() != 0 && suspect.term() != term) {
            throw TreeException.of(TreeError.SESSION_MOVED);
        }
        put(session(suspect.id()).suspected(zxid));
        return new Result.SessionSuspected(suspect.id(), zxid);
    }

    Result keepSession(Change.KeepSession keep) {
        checkAttachment(keep.id(), keep.attachment());
        heardOf(keep.id(), keep.attachment());
        return new Result.SessionKept(keep.id());
    }

    Result expireSession(Change.ExpireSession expire) {
        if (session(expire.id()).suspicion() != expire.suspicion()
                || expire.suspicion() == 0
                || expire.term() != term) {
            throw TreeException.of(TreeError.SESSION_MOVED);
        }
        return end(expire.id(), Change.CloseReason.EXPIRED);
    }

    /** What a session does shows that it lives, whether or not it is allowed. */
    void heardOf(long sessionId, long attachment) {
        SessionRecord session = sessions.get(sessionId);
        if (session != null && session.isSuspected() && session.attachment() == attachment) {
            put(session.suspected(0));
        }
    }

    Result configure(String members) {
        byte[] data = (members + "version=" + Long.toHexString(zxid)).getBytes(StandardCharsets.UTF_8);
        Trail trail = Trail.of(root, ZnodePath.CONFIG);
        Znode after = trail.node().withData(data, zxid, timeMs);
        root = trail.rootWith(after);
        contentDigested(ZnodePath.CONFIG, trail.node(), after);
        bytes += after.dataLength() - trail.node().dataLength();
        events.add(new TreeEvent(TreeEvent.Type.DATA_CHANGED, ZnodePath.CONFIG, zxid, after.acl()));
        return new Result.Configured();
    }

    /** Refuses a request of a session that is gone, or of a connection that is not the session's any more. */
    void checkAttachment(long sessionId, long attachment) {
        if (session(sessionId).attachment() != attachment) {
            throw TreeException.of(TreeError.SESSION_MOVED);
        }
    }

    private SessionRecord session(long id) {
        SessionRecord session = sessions.get(id);
        if (session == null) {
            throw TreeException.of(TreeError.SESSION_EXPIRED);
        }
        return session;
    }

    /** The epoch is in the zxid already. */
    Result startTerm(long newTerm) {
        term = Math.max(term, newTerm);
        return new Result.TermStarted(zxid >>> 32);
    }

    Result raiseFeatureLevel(int level) {
        boolean countsFromHere = featureLevel < Change.QUOTA_FEATURE_LEVEL && level >= Change.QUOTA_FEATURE_LEVEL;
        featureLevel = Math.max(featureLevel, level);
        if (countsFromHere) {
            Quota.allStats(root).forEach(this::usageBegins);
        }
        return new Result.FeatureLevelRaised(featureLevel);
    }

    /** Writes beyond a hard limit are refused from here on. */
    void enforceQuotas(boolean enforce) {
        enforcesQuotas = enforce;
    }

    private void checkQuota(String path, long moreCount, long moreBytes) {
        if (enforcesQuotas
                && featureLevel >= Change.QUOTA_FEATURE_LEVEL
                && Quota.of(root, path)
                        .filter(quota -> quota.refuses(moreCount, moreBytes))
                        .isPresent()) {
            throw TreeException.of(TreeError.QUOTA_EXCEEDED);
        }
    }

    /** A znode of usage tells what there is from the moment on in which it is created. */
    private void usageBegins(String path) {
        String top = featureLevel < Change.QUOTA_FEATURE_LEVEL ? null : Quota.topOfStats(path);
        if (top != null) {
            setUsage(path, Quota.counted(root, top));
        }
    }

    private void used(String path, long moreCount, long moreBytes) {
        String top = featureLevel < Change.QUOTA_FEATURE_LEVEL ? null : Quota.topOf(root, path);
        if (top != null) {
            used(top, QuotaText.of(moreCount, moreBytes));
        }
    }

    private void used(String top, QuotaText more) {
        String path = Quota.statsOf(top);
        Znode stats = Trail.find(root, path);
        if (stats != null) {
            QuotaText.parse(stats.data()).ifPresent(usage -> setUsage(path, usage.plus(more.count(), more.bytes())));
        }
    }

    /** Nobody is told, as in ZooKeeper: a watch on usage would fire with each write. */
    private void setUsage(String path, QuotaText usage) {
        Trail trail = Trail.of(root, path);
        Znode before = trail.node();
        byte[] text = usage.toBytes();
        if (!Arrays.equals(text, before.data())) {
            Znode after = before.withUsage(text);
            root = trail.rootWith(after);
            contentDigested(path, before, after);
            bytes += after.dataLength() - before.dataLength();
        }
    }

    private static void checkVersion(int actual, int wanted) {
        if (wanted != TreeOperation.ANY_VERSION && wanted != actual) {
            throw TreeException.of(TreeError.BAD_VERSION);
        }
    }

    private static void checkEmpty(Znode node) {
        if (!node.children().isEmpty()) {
            throw TreeException.of(TreeError.NOT_EMPTY);
        }
    }

    private void childrenChanged(String path, int slash, Znode parent) {
        events.add(new TreeEvent(TreeEvent.Type.CHILDREN_CHANGED, ZnodePath.parentOf(path, slash), zxid, parent.acl()));
    }

    private void put(SessionRecord session) {
        digest += TreeDigest.session(session) - TreeDigest.session(sessions.get(session.id()));
        sessions = sessions.put(session.id(), session);
    }

    private void contentDigested(String path, Znode before, Znode after) {
        long hash = TreeDigest.path(path);
        digest += TreeDigest.content(hash, after) - TreeDigest.content(hash, before);
    }

    private void childrenDigested(long pathHash, Znode before, Znode after) {
        digest += TreeDigest.children(pathHash, after) - TreeDigest.children(pathHash, before);
    }

    private void added(String path, Znode node) {
        digest += TreeDigest.node(TreeDigest.path(path), node);
        acls = acls.with(node.acl());
        nodes++;
        bytes += path.length() + node.dataLength();
        if (Znode.isReaped(node.owner)) {
            reaped = reaped.with(path);
        } else if (node.isEphemeral()) {
            ephemerals++;
            SessionRecord session = session(node.ephemeralOwner());
            sessions =
                    sessions.put(session.id(), session.with(session.ephemerals().with(path)));
        }
    }

    private void removed(String path, Znode node) {
        digest -= TreeDigest.node(TreeDigest.path(path), node);
        acls = acls.without(node.acl());
        nodes--;
        bytes -= path.length() + node.dataLength();
        if (Znode.isReaped(node.owner)) {
            reaped = reaped.without(path);
        } else if (node.isEphemeral()) {
            ephemerals--;
            SessionRecord session = session(node.ephemeralOwner());
            sessions =
                    sessions.put(session.id(), session.with(session.ephemerals().without(path)));
        }
    }
}
