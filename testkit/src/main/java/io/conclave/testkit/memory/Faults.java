package io.conclave.testkit.memory;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Breaks a store in memory on purpose. Nothing here does what the contract of a backend forbids: requests of a session
 * stay in order, a lost reply makes the outcome unknown, and an expired session never comes back.
 *
 * <p>Thread-safe; nothing blocks. Sessions are named by their id, as in {@code ephemeralOwner}; an unknown id is
 * ignored, as the session may just have ended.
 */
public final class Faults {
    private final MemoryStore store;
    // All below: @GuardedBy("store.lock").
    private final List<Rule> rules = new ArrayList<>();
    private final Set<Long> suspended = new HashSet<>();
    private final Set<TimeSource> isolated = Collections.newSetFromMap(new IdentityHashMap<>());
    private final IdentityHashMap<TimeSource, UnaryOperator<BackendSession>> planted = new IdentityHashMap<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private @Nullable RequestHook hook;
    private boolean allSuspended;
    private boolean persistentWatches = true;
    private Duration reconnectDelay = Duration.ZERO;
    private long executedRequests;
    private long reportedEvents;

    private static final class Rule {
        final OptionalLong sessionId; // empty for any
        final Predicate<Request<?>> matches;
        final RequestFate fate;
        int matchesLeft;

        Rule(OptionalLong sessionId, Predicate<Request<?>> matches, RequestFate fate, int matchesLeft) {
            this.sessionId = sessionId;
            this.matches = Objects.requireNonNull(matches, "matches");
            this.fate = Objects.requireNonNull(fate, "fate");
            this.matchesLeft = matchesLeft;
        }

        boolean matches(long by, Request<?> request) {
            return (sessionId.isEmpty() || sessionId.getAsLong() == by) && matches.test(request);
        }
    }

    private record Refusal(Predicate<Request<?>> matches, RefusalReason reason, int operationIndex) {
        RefusedException of(Request<?> request) {
            return new RefusedException(reason, request.describe() + ": refused", operationIndex);
        }
    }

    Faults(MemoryStore store) {
        this.store = store;
    }

    /** The next request that matches meets this fate, once. */
    public void onNext(Predicate<Request<?>> matches, RequestFate fate) {
        add(new Rule(OptionalLong.empty(), matches, fate, 1));
    }

    /** The next request of this session that matches meets this fate, once; those of others do not count. */
    public void onNext(long sessionId, Predicate<Request<?>> matches, RequestFate fate) {
        add(new Rule(OptionalLong.of(sessionId), matches, fate, 1));
    }

    /**
     * The n-th request from now that matches, counted from 1, meets this fate, once; if an earlier rule decides
     * about that one, the next does.
     */
    public void onNth(int n, Predicate<Request<?>> matches, RequestFate fate) {
        if (n < 1) {
            throw new IllegalArgumentException("Invalid request number " + n + ": they are counted from 1");
        }
        add(new Rule(OptionalLong.empty(), matches, fate, n));
    }

    private void add(Rule rule) {
        store.lock().run(() -> rules.add(rule));
    }

    /**
     * Every request meets the hook from now on, unless a rule of {@code onNext} or {@link #onNth} decides. Replaces the
     * last hook.
     */
    public void intercept(RequestHook newHook) {
        Objects.requireNonNull(newHook, "hook");
        store.lock().run(() -> hook = newHook);
    }

    /**
     * From now on every request that matches is refused when it is submitted, and not executed: as by a bound that is
     * reached, or a right that was taken away. Until {@link #clear}.
     */
    public void refuse(Predicate<Request<?>> matches, RefusalReason reason) {
        refuse(matches, reason, -1);
    }

    /**
     * As {@link #refuse(Predicate, RefusalReason)}, of transactions. As by a server that looks at its limits before it
     * tries any operation on the tree: the operations before the refused one need not have been in order.
     *
     * @param operationIndex the operation that the refusal names, from 0; -1 if it names none
     */
    public void refuse(Predicate<Request<?>> matches, RefusalReason reason, int operationIndex) {
        Refusal refusal = new Refusal(
                Objects.requireNonNull(matches, "matches"), Objects.requireNonNull(reason, "reason"), operationIndex);
        store.lock().run(() -> refusals.add(refusal));
    }

    /** How a request that is submitted is refused. */
    Optional<RefusedException> refusal(Request<?> request) {
        return refusals.stream()
                .filter(refusal -> refusal.matches.test(request))
                .map(refusal -> refusal.of(request))
                .findFirst();
    }

    /** Forgets the hook, the rules and the refusals; connections come back and held replies are released. */
    public void clear() {
        store.lock().run(() -> {
            rules.clear();
            refusals.clear();
            hook = null;
            reconnectDelay = Duration.ZERO;
            restoreAll();
            store.connectedSessions().forEach(MemorySession::releaseReplies);
        });
    }

    /**
     * How long a session needs to come back after its connection was dropped, by its own time source; zero at first: at
     * once, on its callback executor.
     */
    public void reconnectAfter(Duration delay) {
        store.lock().run(() -> reconnectDelay = delay);
    }

    /** Drops the session's connection; it comes back by itself. */
    public void drop(long sessionId) {
        withSession(sessionId, session -> session.dropConnection("the connection was dropped"));
    }

    /** Drops the session's connection and lets it come back only after {@link #restore}. */
    public void suspend(long sessionId) {
        store.lock().run(() -> {
            suspended.add(sessionId);
            drop(sessionId);
        });
    }

    /** Lets a suspended session come back, at once. */
    public void restore(long sessionId) {
        store.lock().run(() -> {
            suspended.remove(sessionId);
            withSession(sessionId, MemorySession::attach);
        });
    }

    /**
     * From now on no session of a process gets a connection, neither one that it has nor one that it opens, until
     * {@link #rejoin}. Connections that stand are left alone: see {@link #isolate}.
     *
     * @param process the process, known by its clocks: all sessions that use this very object
     */
    public void keepAway(TimeSource process) {
        store.lock().run(() -> isolated.add(process));
    }

    /**
     * Puts something between a process and the sessions that it opens from now on, such as a mistake that tests must
     * find.
     *
     * @param process the process, known by its clocks, as in {@link #keepAway}
     * @param around the session as the process uses it
     */
    public void plant(TimeSource process, UnaryOperator<BackendSession> around) {
        store.lock().run(() -> planted.put(process, around));
    }

    /** The session as its process uses it. */
    BackendSession asUsedBy(TimeSource process, BackendSession session) {
        return store.lock()
                .call(() -> planted.getOrDefault(process, UnaryOperator.identity()))
                .apply(session);
    }

    /** Cuts a process off: as {@link #keepAway}, and drops the connections that stand. */
    public void isolate(TimeSource process) {
        store.lock().run(() -> {
            isolated.add(process);
            store.connectedSessions().stream()
                    .filter(session -> session.isOf(process))
                    .forEach(session -> session.dropConnection("the process was cut off"));
        });
    }

    /** Ends {@link #keepAway} and {@link #isolate}: the sessions of the process connect at once. */
    public void rejoin(TimeSource process) {
        store.lock().run(() -> {
            isolated.remove(process);
            store.clients().stream().filter(session -> session.isOf(process)).forEach(MemorySession::attach);
        });
    }

    /** Drops every connection; none comes back, and no new session gets one, until {@link #restoreAll}. */
    public void suspendAll() {
        store.lock().run(() -> {
            allSuspended = true;
            store.connectedSessions().forEach(session -> session.dropConnection("the connection was dropped"));
        });
    }

    /** Ends {@link #suspendAll}, and every {@link #suspend} and {@link #isolate}. */
    public void restoreAll() {
        store.lock().run(() -> {
            allSuspended = false;
            suspended.clear();
            isolated.clear();
            store.clients().forEach(MemorySession::attach);
        });
    }

    /**
     * Holds what the server sends to this session - replies, events, answers to heartbeats - until it is released or
     * the connection goes. The server still hears the session.
     */
    public void holdReplies(long sessionId) {
        withSession(sessionId, MemorySession::holdReplies);
    }

    /** Delivers what was held, in order, and holds nothing any more. */
    public void releaseReplies(long sessionId) {
        withSession(sessionId, MemorySession::releaseReplies);
    }

    /**
     * The server ends the session as if it had not heard of it for its timeout: its ephemeral znodes go at once. A
     * session that is connected is told, another one when it comes back.
     */
    public void expire(long sessionId) {
        store.lock().run(() -> store.expire(sessionId));
    }

    /**
     * The store comes back empty, as servers do that begin anew on new disks: it has no znodes and no sessions, and
     * counts changes from the first one again, so that what comes now has smaller zxids than what was there before.
     * Sessions that are connected are told, others when they come back. Its generation stays, as ZooKeeper's does that
     * nobody has raised.
     */
    public void beginAnew() {
        store.lock().run(store::beginAnew);
    }

    /**
     * From now on the store knows no persistent watches, as servers before ZooKeeper 3.6: it refuses them as
     * unsupported, and backends do not claim them. A coordinator that is connected already was told otherwise and finds
     * out by the refusal.
     */
    public void withoutPersistentWatches() {
        store.lock().run(() -> persistentWatches = false);
    }

    boolean hasPersistentWatches() {
        return store.lock().call(() -> persistentWatches);
    }

    /** Deletes a znode with all below it, as an operator would; whether it was there. */
    public boolean deleteAsOperator(NodePath path) {
        return store.lock().call(() -> store.deleteAsOperator(path));
    }

    /**
     * Deletes every container that has had children and has none any more, without waiting for the store's own sweep.
     */
    public void deleteEmptyContainers() {
        store.lock().run(store::deleteEmptyContainers);
    }

    /**
     * The server keeps a session for longer than was agreed with its client, as it does after a change of leader. What
     * the client has lost by its own clock ends when its next session opens.
     */
    public void keep(long sessionId, Duration longer) {
        withSession(sessionId, session -> session.keepAtServer(longer));
    }

    /** The ids of the sessions that live at the server. */
    public Set<Long> liveSessions() {
        return store.lock().call(store::liveSessions);
    }

    /** How many watches a session has set; 0 for an unknown one. For tests that leave nothing behind. */
    public int watchCount(long sessionId) {
        return store.lock()
                .call(() ->
                        store.client(sessionId).map(MemorySession::watchCount).orElse(0));
    }

    /** How many requests were about to be executed so far, closings included: the index that the next one gets. */
    public long requestCount() {
        return store.lock().call(() -> executedRequests);
    }

    /** How many watch events were reported so far: one for each session and event, as they go over the wire. */
    public long eventCount() {
        return store.lock().call(() -> reportedEvents);
    }

    void countEvent() {
        reportedEvents++;
    }

    RequestFate decide(long sessionId, Request<?> request) {
        long index = executedRequests++;
        @Nullable Rule first = null;
        for (Rule rule : rules) {
            if (rule.matches(sessionId, request) && --rule.matchesLeft <= 0 && first == null) {
                first = rule;
            }
        }
        if (first != null) {
            rules.remove(first);
            return first.fate;
        }
        RequestHook current = hook;
        return current == null ? RequestFate.PROCEED : current.onRequest(sessionId, request, index);
    }

    RequestFate decideClose(long sessionId) {
        long index = executedRequests++;
        RequestHook current = hook;
        return current == null ? RequestFate.PROCEED : current.onClose(sessionId, index);
    }

    boolean isReachable(long sessionId, TimeSource process) {
        return !allSuspended && !suspended.contains(sessionId) && !isolated.contains(process);
    }

    Duration reconnectDelay() {
        return reconnectDelay;
    }

    private void withSession(long sessionId, Consumer<MemorySession> action) {
        store.lock().run(() -> {
            Optional<MemorySession> session = store.client(sessionId);
            session.ifPresent(action);
        });
    }
}
