package io.conclave.testkit.memory;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.node.Permission;
import io.conclave.request.AddWatch;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.Exists;
import io.conclave.request.GetAcl;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.spi.BackendProvider;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A tree of znodes in memory with its sessions, for one JVM: what a server would be. Any number of backends may be
 * opened on it.
 *
 * <p>Sessions expire by the store's time source, at or after the moment when nothing was heard of them for their
 * timeout. Thread-safe: one lock guards all of it, and every request is executed as a whole under it, so all of them
 * are linearizable.
 */
public final class MemoryStore {
    private static final ConcurrentMap<String, MemoryStore> NAMED = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_GENERATION = new AtomicLong();
    private static final Duration CONTAINER_SWEEP_INTERVAL = Duration.ofSeconds(60);
    /** Shorter than a real server's, since the store is for tests. */
    private static final Duration TTL_SWEEP_INTERVAL = Duration.ofSeconds(1);

    private static final MemoryChange.Caller OPERATOR = new MemoryChange.Caller(0, Set.of(), Acl.OPEN);

    private final StoreLock lock = new StoreLock();
    private final TimeSource time;
    private final long generation;
    private final Faults faults = new Faults(this);
    // All below: @GuardedBy("lock").
    private MemoryTree tree = new MemoryTree();
    private final Map<Long, ServerSession> live = new LinkedHashMap<>();
    /** Every session that its owner still uses, whether it lives at the server or not, whether it has an id or not. */
    private final List<MemorySession> clients = new ArrayList<>();

    private long lastZxid;
    private long lastSessionId;
    private boolean isSweepScheduled;
    private boolean isTtlSweepScheduled;

    /** An empty store; the time source tells when its sessions expire. */
    public MemoryStore(TimeSource time) {
        this.time = Objects.requireNonNull(time, "time");
        this.generation = LAST_GENERATION.updateAndGet(last -> Math.max(last + 1, time.wallMillis()));
    }

    /**
     * The store of the connect string {@code memory:name}; created with the machine's clocks if there is none. It lives
     * until {@link #forget}.
     */
    public static MemoryStore named(String name) {
        return named(name, TimeSource.system());
    }

    /** As {@link #named(String)}; if there is none yet, one is created whose sessions expire by this time source. */
    public static MemoryStore named(String name, TimeSource time) {
        return NAMED.computeIfAbsent(name, n -> new MemoryStore(time));
    }

    /**
     * Forgets the store of that name: the next use of the name begins with an empty one. Users of the old one keep it.
     */
    public static void forget(String name) {
        NAMED.remove(name);
    }

    /** The clocks by which its sessions expire. */
    public TimeSource time() {
        return time;
    }

    /** What can be broken in this store. */
    public Faults faults() {
        return faults;
    }

    /** A provider whose backends all use this store, whatever name the connect string has. */
    public BackendProvider provider() {
        return new MemoryBackendProvider(this);
    }

    /**
     * Every znode but the root as it is now, in the order of the paths. For tests that check the owners, and what was
     * left behind.
     */
    public SortedMap<NodePath, NodeStat> snapshot() {
        return lock.call(() -> {
            catchUp(null);
            return tree.snapshot();
        });
    }

    StoreLock lock() {
        return lock;
    }

    MemoryTree tree() {
        return tree;
    }

    long generation() {
        return generation;
    }

    long lastZxid() {
        return lastZxid;
    }

    void register(MemorySession client) {
        clients.add(client);
    }

    void unregister(MemorySession client) {
        clients.remove(client);
    }

    List<MemorySession> clients() {
        return List.copyOf(clients);
    }

    List<MemorySession> connectedSessions() {
        return clients.stream().filter(MemorySession::isAttached).toList();
    }

    Optional<MemorySession> client(long sessionId) {
        return clients.stream().filter(client -> client.id() == sessionId).findFirst();
    }

    Set<Long> liveSessions() {
        return Set.copyOf(live.keySet());
    }

    ServerSession createSession(
            MemorySession client, Set<ProvenIdentity> identities, Acl defaultAcl, Duration timeout) {
        MemoryChange.Caller caller = new MemoryChange.Caller(++lastSessionId, identities, defaultAcl);
        ServerSession session = new ServerSession(caller, client, timeout, time);
        live.put(session.id(), session);
        scheduleExpiry(session, timeout);
        return session;
    }

    private void scheduleExpiry(ServerSession session, Duration delay) {
        time.schedule(
                delay,
                () -> lock.run(() -> {
                    if (session.isAlive()) {
                        Duration left = session.untilExpiry();
                        if (left.isZero() || left.isNegative()) {
                            expire(session.id());
                        } else {
                            scheduleExpiry(session, left);
                        }
                    }
                }));
    }

    /** The server ends a session of which it has not heard, and tells it if it is connected. */
    void expire(long sessionId) {
        ServerSession session = live.get(sessionId);
        if (session != null) {
            end(session);
            session.client.onExpired();
        }
    }

    /** Ends a session: it has no ephemeral znodes and is heard no more. */
    void end(ServerSession session) {
        catchUp(null);
        session.end();
        if (live.remove(session.id()) != null) {
            MemoryChange change = newChange(session.caller);
            tree.deleteEphemerals(change, session.id());
            finish(change);
        }
    }

    /** No znodes, no sessions, and changes are counted from the first one again. */
    void beginAnew() {
        catchUp(null);
        List<ServerSession> lost = List.copyOf(live.values());
        live.clear();
        lost.forEach(ServerSession::end);
        tree = new MemoryTree();
        lastZxid = 0;
        lost.forEach(session -> session.client.onExpired());
    }

    boolean deleteAsOperator(NodePath path) {
        catchUp(null);
        if (path.isRoot() || tree.find(path) == null) {
            return false;
        }
        MemoryChange change = newChange(OPERATOR);
        tree.deleteSubtree(change, path);
        finish(change);
        return true;
    }

    /**
     * What was executed while its session's connection went is heard of by all servers, but for that of this session.
     */
    void catchUp(@Nullable MemorySession lagging) {
        for (MemorySession client : List.copyOf(clients)) {
            if (client != lagging) {
                client.catchUp();
            }
        }
    }

    void deleteEmptyContainers() {
        if (!tree.hasEmptyContainers()) {
            return;
        }
        MemoryChange change = newChange(OPERATOR);
        tree.deleteEmptyContainers(change);
        finish(change);
    }

    private void deleteOutlived() {
        if (tree.hasOutlived(time.wallMillis())) {
            MemoryChange change = newChange(OPERATOR);
            tree.deleteOutlived(change);
            finish(change);
        }
    }

    /** Executes a request of a session that lives; throws what it is refused with. */
    Object execute(ServerSession session, Request<?> request) {
        MemoryChange.Caller caller = session.caller;
        if (request instanceof Create create) {
            return change(caller, change -> tree.create(change, create));
        } else if (request instanceof SetData set) {
            return change(caller, change -> tree.set(change, set));
        } else if (request instanceof SetAcl setAcl) {
            return change(caller, change -> tree.setAcl(change, setAcl));
        } else if (request instanceof Multi multi) {
            return change(caller, change -> tree.multi(change, multi));
        } else if (request instanceof Delete delete) {
            return change(caller, change -> {
                tree.delete(change, delete);
                return Done.DONE;
            });
        } else if (request instanceof Check check) {
            return change(caller, change -> {
                tree.check(change, check);
                return Done.DONE;
            });
        }
        return read(caller.identities(), request);
    }

    private Object read(Set<ProvenIdentity> identities, Request<?> request) {
        if (request instanceof Exists exists) {
            return exists(identities, exists.path());
        } else if (request instanceof GetData get) {
            Node node = tree.getReadable(get.path(), identities);
            return new GetData.NodeData(node.data, node.stat());
        } else if (request instanceof GetChildren get) {
            Node node = tree.getReadable(get.path(), identities);
            return new GetChildren.Children(List.copyOf(node.children), node.stat());
        } else if (request instanceof GetAcl get) {
            return getAcl(identities, get.path());
        } else if (request instanceof AddWatch && !faults.hasPersistentWatches()) {
            throw new RefusedException(
                    RefusalReason.UNSUPPORTED, request.describe() + ": the store has no persistent watches");
        }
        // Sync needs nothing where there is one copy; the watches of AddWatch and RemoveWatch are the session's.
        return Done.DONE;
    }

    private Optional<NodeStat> exists(Set<ProvenIdentity> identities, NodePath path) {
        return tree.find(path) == null
                ? Optional.empty()
                : Optional.of(tree.getReadable(path, identities).stat());
    }

    private GetAcl.NodeAcl getAcl(Set<ProvenIdentity> identities, NodePath path) {
        Node node = tree.get(path);
        boolean isAdmin = AccessRules.allows(node.acl, identities, Permission.ADMIN);
        if (!isAdmin) {
            AccessRules.require(node.acl, identities, Permission.READ, path);
        }
        return new GetAcl.NodeAcl(isAdmin ? node.acl : AccessRules.masked(node.acl), node.stat());
    }

    /** One step of a change. */
    private interface Step<T> {
        T apply(MemoryChange change);
    }

    private <T> T change(MemoryChange.Caller caller, Step<T> step) {
        MemoryChange change = newChange(caller);
        try {
            T result = step.apply(change);
            finish(change);
            return result;
        } catch (RefusedException e) {
            change.rollBack();
            throw e;
        }
    }

    private MemoryChange newChange(MemoryChange.Caller caller) {
        return new MemoryChange(++lastZxid, time.wallMillis(), caller);
    }

    private void finish(MemoryChange change) {
        for (MemoryChange.Cause cause : change.causes) {
            for (ServerSession session : List.copyOf(live.values())) {
                if (session.client.onTreeEvent(cause.event(), mayRead(session, cause.acl()))) {
                    faults.countEvent();
                }
            }
        }
        scheduleSweep();
    }

    private static Supplier<Boolean> mayRead(ServerSession session, Acl acl) {
        return () -> AccessRules.allows(acl, session.caller.identities(), Permission.READ);
    }

    private void scheduleSweep() {
        if (!isSweepScheduled && tree.hasEmptyContainers()) {
            isSweepScheduled = true;
            time.schedule(
                    CONTAINER_SWEEP_INTERVAL,
                    () -> lock.run(() -> {
                        isSweepScheduled = false;
                        deleteEmptyContainers();
                    }));
        }
        scheduleTtlSweep();
    }

    private void scheduleTtlSweep() {
        if (!isTtlSweepScheduled && tree.hasTtls()) {
            isTtlSweepScheduled = true;
            time.schedule(
                    TTL_SWEEP_INTERVAL,
                    () -> lock.run(() -> {
                        isTtlSweepScheduled = false;
                        deleteOutlived();
                        scheduleTtlSweep();
                    }));
        }
    }

    /** The watch that a request sets, given what it was answered. */
    static MemoryWatches.@Nullable Watch watchOf(Request<?> request, Object answer, MemoryWatches watches) {
        if (request instanceof Exists exists && exists.watcher().isPresent()) {
            boolean isThere = ((Optional<?>) answer).isPresent();
            return watches.add(
                    exists.path(),
                    isThere ? MemoryWatches.Kind.DATA : MemoryWatches.Kind.ABSENCE,
                    exists.watcher().get());
        } else if (request instanceof GetData get && get.watcher().isPresent()) {
            return watches.add(
                    get.path(), MemoryWatches.Kind.DATA, get.watcher().get());
        } else if (request instanceof GetChildren get && get.watcher().isPresent()) {
            return watches.add(
                    get.path(), MemoryWatches.Kind.CHILDREN, get.watcher().get());
        } else if (request instanceof AddWatch add) {
            return watches.add(
                    add.path(),
                    add.recursive() ? MemoryWatches.Kind.RECURSIVE : MemoryWatches.Kind.PERSISTENT,
                    add.watcher());
        }
        return null;
    }
}
