package io.conclave.testkit.memory;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.Request;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionDeadline;
import io.conclave.spi.SessionListener;
import io.conclave.spi.SessionState;
import io.conclave.spi.Watcher;
import io.conclave.time.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a session with a store in memory. Everything that "the network" would carry to it passes {@link #deliver}, in order, where it can be held.
 *
 * <p>Guarded by the store's lock, but for what is said to be volatile; callbacks run on the dispatcher, outside the lock.
 */
final class MemorySession implements BackendSession {
    private final MemoryStore store;
    private final BackendOptions options;
    private final Set<Identity> identities;
    private final SessionListener listener;
    private final TimeSource time;
    private final SerialExecutor dispatcher;
    private final SessionDeadline deadline = new SessionDeadline();
    private final WatchTable watches = new WatchTable();
    private final AtomicInteger outstanding = new AtomicInteger();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    /** Not sent yet. */
    private final Queue<Pending<?>> unsent = new ArrayDeque<>();
    /** Sent, and the answer has not come through. */
    private final Deque<Pending<?>> inFlight = new ArrayDeque<>();
    /** What the server has sent and a fault holds back. */
    private final Queue<Runnable> held = new ArrayDeque<>();
    /** Sent on a connection that went, and arriving before the next one. */
    private final List<Request<?>> late = new ArrayList<>();

    private @Nullable ServerSession server;
    private boolean isHolding;
    private long seenZxid;
    private long connectionsMade;
    private TimeSource.@Nullable Timer pingTimer;
    private TimeSource.@Nullable Timer watchdog;
    private volatile SessionState state = SessionState.CONNECTING;
    private volatile long id;
    /** Written on the dispatcher. */
    private volatile long connectionNumber;

    private static final class Pending<R> {
        final Request<R> request;
        final Elapsed submitted;
        final CompletableFuture<R> answer = new CompletableFuture<>();

        Pending(Request<R> request, Elapsed submitted) {
            this.request = request;
            this.submitted = submitted;
        }
    }

    MemorySession(MemoryStore store, BackendOptions options, Set<Identity> identities, SessionListener listener) {
        this.store = store;
        this.options = options;
        this.identities = identities;
        this.listener = listener;
        this.time = options.time();
        this.dispatcher =
                new SerialExecutor("memory session", store.lock().outside(options.callbackExecutor()), options.time());
    }

    /** Begins to connect, on the callback executor. */
    void open() {
        store.lock().run(() -> {
            store.register(this);
            reconnect(Duration.ZERO);
        });
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public SessionState state() {
        return state;
    }

    @Override
    public Executor dispatcher() {
        return dispatcher;
    }

    @Override
    public long connectionNumber() {
        return connectionNumber;
    }

    @Override
    public Duration remaining() {
        return state.isLive() ? deadline.remaining() : Duration.ZERO;
    }

    @Override
    public boolean deadlineIsStrict() {
        return true;
    }

    @Override
    public OptionalLong generation() {
        return OptionalLong.of(store.generation());
    }

    @Override
    public <R> CompletionStage<R> submit(Request<R> request) {
        Pending<R> pending = new Pending<>(request, Elapsed.since(time));
        store.lock().run(() -> accept(pending));
        return pending.answer;
    }

    private void accept(Pending<?> pending) {
        loseIfOverdue();
        outstanding.incrementAndGet();
        if (!state.isLive()) {
            fail(pending, this::gone);
        } else if (outstanding.get() > options.maxQueuedRequests()) {
            fail(
                    pending,
                    request -> new RefusedException(
                            RefusalReason.LIMIT_EXCEEDED,
                            request.describe() + ": " + options.maxQueuedRequests()
                                    + " requests are already waiting in this session"));
        } else {
            unsent.add(pending);
            sendUnsent();
        }
    }

    private ConclaveException gone(Request<?> request) {
        return state == SessionState.CLOSED
                ? new ClosedException(request.describe() + ": the session was closed")
                : new SessionGoneException(request.describe() + ": the session was lost");
    }

    private void sendUnsent() {
        while (state == SessionState.CONNECTED && !unsent.isEmpty()) {
            send(unsent.remove());
        }
    }

    private void send(Pending<?> pending) {
        inFlight.add(pending);
        switch (store.faults().decide(id, pending.request)) {
            case PROCEED -> execute(pending);
            case HOLD_REPLY -> {
                holdReplies();
                execute(pending);
            }
            case DROP_BEFORE -> dropConnection("the connection was dropped before " + pending.request.describe());
            case DROP_AFTER -> {
                holdReplies();
                execute(pending);
                dropConnection("the connection was dropped after " + pending.request.describe());
            }
            case DROP_AND_APPLY_LATE -> {
                late.add(pending.request);
                dropConnection("the connection was dropped during " + pending.request.describe());
            }
            case EXPIRE_BEFORE -> expireNow();
            case EXPIRE_AFTER -> {
                holdReplies();
                execute(pending);
                expireNow();
            }
        }
    }

    /** The server ends this session and the news gets through. */
    private void expireNow() {
        store.expire(id);
        lose();
    }

    /** The server's part: executes the request and sends the answer. */
    private <R> void execute(Pending<R> pending) {
        ServerSession session = server;
        if (session == null || !session.isAlive()) {
            // It was expired while replies are held; the news of that is held as well.
            return;
        }
        session.heard();
        try {
            Object answer = store.execute(session, pending.request);
            if (pending.request instanceof RemoveWatch remove) {
                removeWatch(remove);
            }
            WatchTable.Watch watch = MemoryStore.watchOf(pending.request, answer, watches);
            long zxid = store.lastZxid();
            deliver(() -> answered(pending, zxid, watch, () -> complete(pending, answer)));
        } catch (RefusedException refusal) {
            long zxid = store.lastZxid();
            deliver(() -> answered(pending, zxid, null, () -> fail(pending, request -> refusal)));
        }
    }

    private void removeWatch(RemoveWatch remove) {
        if (!watches.remove(remove.path(), remove.watcher())) {
            throw new RefusedException(RefusalReason.NO_WATCHER, "no such watcher on " + remove.path());
        }
        NodeEvent event = new NodeEvent(NodeEvent.Type.WATCH_REMOVED, remove.path(), -1);
        deliver(() -> dispatcher.execute(() -> remove.watcher().onEvent(event)));
    }

    /** The client's part: the answer has come through. */
    private void answered(Pending<?> pending, long zxid, WatchTable.@Nullable Watch watch, Runnable completion) {
        inFlight.remove(pending);
        seenZxid = Math.max(seenZxid, zxid);
        if (!pending.request.isRead()) {
            deadline.extend(pending.submitted, options.sessionTimeout());
        }
        if (watch != null) {
            watch.confirmed = true;
        }
        completion.run();
    }

    @SuppressWarnings("unchecked")
    private <R> void complete(Pending<R> pending, Object answer) {
        dispatcher.execute(() -> {
            outstanding.decrementAndGet();
            pending.answer.complete((R) answer);
        });
    }

    private void fail(Pending<?> pending, Function<Request<?>, ConclaveException> reason) {
        ConclaveException failure = reason.apply(pending.request);
        dispatcher.execute(() -> {
            outstanding.decrementAndGet();
            pending.answer.completeExceptionally(failure);
        });
    }

    private void failAll(Queue<Pending<?>> requests, Function<Request<?>, ConclaveException> reason) {
        while (!requests.isEmpty()) {
            fail(requests.remove(), reason);
        }
    }

    /** A change of the tree; the server's side of the connection looks whether a watch of this session sees it. */
    void onTreeEvent(NodeEvent event, Supplier<Boolean> mayRead) {
        if (isAttached()) {
            List<WatchTable.Watch> fired = watches.fire(event);
            if (!fired.isEmpty() && mayRead.get()) {
                deliver(() -> report(event, fired));
            }
        }
    }

    private void report(NodeEvent event, List<WatchTable.Watch> fired) {
        watches.delivered(fired);
        seenZxid = Math.max(seenZxid, event.zxid());
        Set<Watcher> watchers = new HashSet<>();
        for (WatchTable.Watch watch : fired) {
            if (watchers.add(watch.watcher)) {
                dispatcher.execute(() -> watch.watcher.onEvent(event));
            }
        }
    }

    /** Everything from the server goes through here, in order. */
    private void deliver(Runnable arrival) {
        if (isHolding) {
            held.add(arrival);
        } else {
            arrival.run();
        }
    }

    void holdReplies() {
        isHolding = true;
    }

    void releaseReplies() {
        loseIfOverdue();
        isHolding = false;
        while (!isHolding && !held.isEmpty()) {
            held.remove().run();
        }
    }

    /** Whether the server has a connection to this session. */
    boolean isAttached() {
        return state == SessionState.CONNECTED;
    }

    int watchCount() {
        return watches.size();
    }

    /** Connects, if the session waits for a connection and the store can be reached. */
    void attach() {
        boolean isWaiting = state == SessionState.CONNECTING || state == SessionState.SUSPENDED;
        if (!isWaiting || !store.faults().isReachable(id)) {
            return;
        }
        loseIfOverdue();
        if (!state.isLive()) {
            return;
        }
        final Elapsed asked = Elapsed.since(time);
        ServerSession session = server;
        if (session == null) {
            session = store.createSession(this, identities, options.defaultAcl(), options.sessionTimeout());
            server = session;
            id = session.id();
        } else if (!session.isAlive()) {
            lose();
            return;
        }
        session.heard();
        applyLate(session);
        deadline.extend(asked, options.sessionTimeout());
        become(SessionState.CONNECTED);
        reportMissed();
        startTimers();
        sendUnsent();
    }

    private void applyLate(ServerSession session) {
        for (Request<?> request : late) {
            try {
                store.execute(session, request);
            } catch (RefusedException unheard) {
                // Nobody waits for the answer any more.
            }
        }
        late.clear();
    }

    private void reportMissed() {
        for (WatchTable.Missed missed : watches.missed(store.tree(), seenZxid)) {
            NodeEvent event = new NodeEvent(missed.type(), missed.watch().path, -1);
            deliver(() -> report(event, List.of(missed.watch())));
        }
        seenZxid = store.lastZxid();
    }

    /** The connection goes; what was under way has an unknown outcome. */
    void dropConnection(String why) {
        if (!isAttached()) {
            return;
        }
        isHolding = false;
        held.clear();
        watches.connectionLost();
        failAll(
                inFlight,
                request -> new OutcomeUnknownException(
                        request.describe() + ": connection lost before the reply (" + why + ")"));
        become(SessionState.SUSPENDED);
        reconnect(store.faults().reconnectDelay());
    }

    private void reconnect(Duration delay) {
        Runnable attempt = () -> store.lock().run(this::attach);
        if (delay.isZero()) {
            store.lock().outside(options.callbackExecutor()).execute(attempt);
        } else {
            time.schedule(delay, attempt);
        }
    }

    /** The server has expired the session; a connected client hears of it. */
    void onExpired() {
        if (isAttached()) {
            deliver(this::lose);
        }
    }

    private void loseIfOverdue() {
        boolean wasConnected = state == SessionState.CONNECTED || state == SessionState.SUSPENDED;
        if (wasConnected && deadline.remaining().isZero()) {
            lose();
        }
    }

    private void lose() {
        if (state == SessionState.CONNECTED || state == SessionState.SUSPENDED) {
            disconnectForGood();
            become(SessionState.LOST);
            failAll(inFlight, this::gone);
            failAll(unsent, this::gone);
        }
    }

    private void disconnectForGood() {
        isHolding = false;
        held.clear();
        late.clear();
        watches.clear();
        cancel(pingTimer);
        cancel(watchdog);
        store.unregister(this);
    }

    private void become(SessionState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("A session that is " + state + " cannot become " + next);
        }
        state = next;
        long number = next == SessionState.CONNECTED ? ++connectionsMade : 0;
        dispatcher.execute(() -> {
            if (number > 0) {
                connectionNumber = number;
            }
            listener.onState(next);
        });
    }

    @Override
    public CompletionStage<Void> closeAsync() {
        store.lock().run(() -> {
            loseIfOverdue();
            if (state.isLive()) {
                close();
            } else if (state == SessionState.LOST) {
                closed.complete(null);
            }
        });
        return closed.minimalCompletionStage();
    }

    private void close() {
        boolean wasConnected = isAttached();
        become(SessionState.CLOSED);
        failAll(unsent, this::gone);
        boolean answers = wasConnected && closeAtServer();
        if (answers && isHolding) {
            // The confirmation is behind the replies that are held; the watchdog ends the wait.
            held.add(this::finishClose);
        } else {
            finishClose();
        }
    }

    /** Whether the server's confirmation will come. */
    private boolean closeAtServer() {
        ServerSession session = server;
        Decision decision = store.faults().decideClose(id);
        boolean arrives = decision != Decision.DROP_BEFORE;
        if (session != null && arrives) {
            store.end(session);
        }
        return decision == Decision.PROCEED || decision == Decision.HOLD_REPLY;
    }

    private void finishClose() {
        disconnectForGood();
        failAll(
                inFlight,
                request ->
                        new OutcomeUnknownException(request.describe() + ": the session was closed before the reply"));
        dispatcher.execute(() -> closed.complete(null));
    }

    private void startTimers() {
        cancel(pingTimer);
        cancel(watchdog);
        pingTimer = time.schedule(pingInterval(), () -> store.lock().run(this::ping));
        watchAfter(deadline.remaining());
    }

    private void watchAfter(Duration left) {
        // What is left shrinks one percent faster than time passes; asking a little early costs one more look.
        Duration delay = left.minus(left.dividedBy(100)).plusNanos(1000);
        watchdog = time.schedule(delay, () -> store.lock().run(this::watch));
    }

    private Duration pingInterval() {
        return options.sessionTimeout().dividedBy(3);
    }

    private void ping() {
        if (!isAttached()) {
            return;
        }
        loseIfOverdue();
        ServerSession session = server;
        if (isAttached() && session != null) {
            if (session.isAlive()) {
                Elapsed asked = Elapsed.since(time);
                session.heard();
                deliver(() -> deadline.extend(asked, options.sessionTimeout()));
            }
            pingTimer = time.schedule(pingInterval(), () -> store.lock().run(this::ping));
        }
    }

    /** Gives the session up when its deadline has passed, in whatever state. */
    private void watch() {
        Duration left = deadline.remaining();
        if (!left.isZero()) {
            watchAfter(left);
        } else if (state == SessionState.CLOSED) {
            if (!closed.isDone()) {
                finishClose();
            }
        } else {
            lose();
        }
    }

    private static void cancel(TimeSource.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
