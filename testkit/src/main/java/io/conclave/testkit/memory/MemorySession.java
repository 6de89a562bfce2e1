package io.conclave.testkit.memory;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.request.LinearizableRead;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Elapsed;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionDeadline;
import io.conclave.spi.SessionListener;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a session with a store in memory. Everything that "the network" would carry to it passes the
 * {@link ReplyLine}, in order, where it can be held.
 *
 * <p>Guarded by the store's lock, but for what is said to be volatile; callbacks run on the dispatcher, outside the
 * lock.
 */
final class MemorySession implements BackendSession {
    /** For how long the server of the next connection lags at most. */
    static final Duration LAG = Duration.ofMillis(100);

    private final MemoryStore store;
    private final BackendOptions options;
    private final Set<ProvenIdentity> identities;
    private final SessionListener listener;
    private final TimeSource time;
    private final SerialExecutor dispatcher;
    private final SessionDeadline deadline = new SessionDeadline();
    private final SessionRequests requests;
    private final ReplyLine replies = new ReplyLine();
    private final WatchReports watches;
    private final SessionTimers timers;
    private final MemoryLostSessions lost;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    /** Sent on a connection that went, and arriving before the next one. */
    private final List<Request<?>> late = new ArrayList<>();
    /** Executed by the store, but not heard of by the server of this session's connection. */
    private final List<Request<?>> unheard = new ArrayList<>();

    private @Nullable ServerSession server;
    private long connectionsMade;
    private volatile SessionState state = SessionState.CONNECTING;
    private volatile long id;
    /** Written on the dispatcher. */
    private volatile long connectionNumber;

    /**
     * A session that does not connect yet.
     *
     * @param lost what the same client has lost; shared with its other sessions
     */
    MemorySession(
            MemoryStore store,
            BackendOptions options,
            Set<ProvenIdentity> identities,
            SessionListener listener,
            MemoryLostSessions lost) {
        this.store = store;
        this.lost = lost;
        this.options = options;
        this.identities = identities;
        this.listener = listener;
        this.time = options.time();
        this.dispatcher =
                new SerialExecutor("memory session", store.lock().outside(options.callbackExecutor()), options.time());
        this.requests = new SessionRequests(dispatcher);
        this.watches = new WatchReports(replies, dispatcher);
        this.timers = new SessionTimers(
                store.lock(), time, options.sessionTimeout().dividedBy(3), deadline, this::ping, this::onOverdue);
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
        if (request instanceof LinearizableRead<R> read) {
            return submit(read.read(), true);
        }
        return submit(request, !request.isRead() || request instanceof Sync);
    }

    private <R> CompletionStage<R> submit(Request<R> request, boolean isLinearizable) {
        PendingRequest<R> pending = new PendingRequest<>(request, Elapsed.since(time), isLinearizable);
        store.lock().run(() -> accept(pending));
        return pending.answer;
    }

    private void accept(PendingRequest<?> pending) {
        loseIfOverdue();
        int outstanding = requests.submitted();
        Optional<RefusedException> refusal = store.faults().refusal(pending.request);
        if (!state.isLive()) {
            requests.fail(pending, this::gone);
        } else if (refusal.isPresent()) {
            requests.fail(pending, request -> refusal.get());
        } else if (outstanding > options.maxQueuedRequests() && !(pending.request instanceof RemoveWatch)) {
            requests.refuse(
                    pending,
                    RefusalReason.LIMIT_EXCEEDED,
                    options.maxQueuedRequests() + " requests are already waiting in this session");
        } else {
            requests.enqueue(pending);
            sendUnsent();
        }
    }

    private ConclaveException gone(Request<?> request) {
        return state == SessionState.CLOSED
                ? new ClosedException(request.describe() + ": the session was closed")
                : new SessionGoneException(request.describe() + ": the session was lost");
    }

    private void sendUnsent() {
        while (state == SessionState.CONNECTED && requests.hasUnsent()) {
            send(requests.nextToSend());
        }
    }

    private void send(PendingRequest<?> pending) {
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
            case DROP_AND_LAG -> {
                if (!pending.request.isRead()) {
                    unheard.add(pending.request);
                }
                dropConnection("the connection was dropped after " + pending.request.describe());
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
    private <R> void execute(PendingRequest<R> pending) {
        ServerSession session = server;
        if (session == null || !session.isAlive()) {
            // It was expired while replies are held; the news of that is held as well.
            return;
        }
        session.heard();
        store.catchUp(pending.isLinearizable ? null : this);
        try {
            Object answer = store.execute(session, pending.request);
            MemoryWatches.Watch watch = watches.onExecuted(pending.request, answer);
            long zxid = store.lastZxid();
            replies.deliver(() -> answered(pending, zxid, watch, () -> requests.complete(pending, answer)));
        } catch (RefusedException refusal) {
            long zxid = store.lastZxid();
            replies.deliver(() -> answered(pending, zxid, null, () -> requests.fail(pending, request -> refusal)));
        }
    }

    /** The client's part: the answer has come through. */
    private void answered(
            PendingRequest<?> pending, long zxid, MemoryWatches.@Nullable Watch watch, Runnable completion) {
        requests.answered(pending);
        watches.onAnswer(zxid, watch);
        if (!pending.request.isRead()) {
            deadline.extend(pending.submitted, options.sessionTimeout());
        }
        completion.run();
    }

    /**
     * A change of the tree; the server's side of the connection looks whether a watch of this session sees it, and says
     * so.
     */
    boolean onTreeEvent(NodeEvent event, Supplier<Boolean> mayRead) {
        return isAttached() && watches.onTreeEvent(event, mayRead);
    }

    void holdReplies() {
        replies.hold();
    }

    void releaseReplies() {
        loseIfOverdue();
        replies.release();
    }

    /** Whether the server has a connection to this session. */
    boolean isAttached() {
        return state == SessionState.CONNECTED;
    }

    /** Whether it belongs to the process that has these clocks. */
    boolean isOf(TimeSource process) {
        return time == process;
    }

    int watchCount() {
        return watches.size();
    }

    /** Connects, if the session waits for a connection and the store can be reached. */
    void attach() {
        boolean isWaiting = state == SessionState.CONNECTING || state == SessionState.SUSPENDED;
        if (!isWaiting || !store.faults().isReachable(id, time)) {
            return;
        }
        loseIfOverdue();
        if (!state.isLive()) {
            return;
        }
        final Elapsed asked = Elapsed.since(time);
        ServerSession session = server;
        if (session == null) {
            Duration promised = lost.promised();
            if (!promised.isZero()) {
                reconnect(promised);
                return;
            }
            lost.end();
            session = store.createSession(this, identities, options.defaultAcl(), options.sessionTimeout());
            server = session;
            id = session.id();
        } else if (!session.isAlive()) {
            lose();
            return;
        }
        session.heard();
        applyLate(session, late);
        if (!unheard.isEmpty()) {
            time.schedule(LAG, () -> store.lock().run(this::catchUp));
        }
        deadline.extend(asked, options.sessionTimeout());
        become(SessionState.CONNECTED);
        watches.reportMissed(store.tree(), store.lastZxid());
        timers.start();
        sendUnsent();
    }

    /** The server of this session's connection hears of all that has been executed. */
    void catchUp() {
        ServerSession session = server;
        if (session != null && session.isAlive()) {
            applyLate(session, unheard);
        }
    }

    private void applyLate(ServerSession session, List<Request<?>> requests) {
        List<Request<?>> now = List.copyOf(requests);
        requests.clear();
        for (Request<?> request : now) {
            try {
                store.execute(session, request);
            } catch (RefusedException unanswered) {
                // No caller waits for the answer any more.
            }
        }
    }

    /** The connection goes; what was under way has an unknown outcome. */
    void dropConnection(String why) {
        if (!isAttached()) {
            return;
        }
        replies.cut();
        watches.connectionLost();
        requests.failInFlight(request ->
                new OutcomeUnknownException(request.describe() + ": connection lost before the reply (" + why + ")"));
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
            replies.deliver(this::lose);
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
            lost.add(this);
            requests.failInFlight(this::gone);
            requests.failUnsent(this::gone);
        }
    }

    /** For how long somebody may still rely on a session that is lost. */
    Duration promised() {
        ServerSession session = server;
        return session != null && session.isAlive() ? deadline.promised() : Duration.ZERO;
    }

    /** What is under way takes effect now, or never. */
    void endAtServer() {
        ServerSession session = server;
        if (session != null && session.isAlive()) {
            applyLate(session, late);
            store.end(session);
        }
    }

    /** The server keeps the session for longer than was agreed, as after a change of leader. */
    void keepAtServer(Duration longer) {
        ServerSession session = server;
        if (session != null) {
            session.keep(longer);
        }
    }

    private void disconnectForGood() {
        replies.cut();
        watches.clear();
        timers.stop();
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
        requests.failUnsent(this::gone);
        boolean answers = wasConnected && closeAtServer();
        if (answers && replies.isHolding()) {
            // The confirmation is behind the replies that are held; the watchdog ends the wait.
            replies.deliver(this::finishClose);
        } else {
            finishClose();
        }
    }

    /** Whether the server's confirmation will come. */
    private boolean closeAtServer() {
        ServerSession session = server;
        RequestFate fate = store.faults().decideClose(id);
        boolean arrives = fate != RequestFate.DROP_BEFORE;
        if (session != null && arrives) {
            store.end(session);
        }
        return fate == RequestFate.PROCEED || fate == RequestFate.HOLD_REPLY;
    }

    private void finishClose() {
        late.clear();
        disconnectForGood();
        requests.failInFlight(request ->
                new OutcomeUnknownException(request.describe() + ": the session was closed before the reply"));
        dispatcher.execute(() -> closed.complete(null));
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
                replies.deliver(() -> deadline.extend(asked, options.sessionTimeout()));
            }
            timers.pingLater();
        }
    }

    /** The deadline has passed: gives the session up, in whatever state. */
    private void onOverdue() {
        if (state != SessionState.CLOSED) {
            lose();
        } else if (!closed.isDone()) {
            finishClose();
        }
    }
}
