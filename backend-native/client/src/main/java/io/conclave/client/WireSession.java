package io.conclave.client;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.AuthRequest;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.EmptyRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.GetDataRequest;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.WatcherType;
import io.conclave.protocol.Xid;
import io.conclave.spi.Authentication;
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
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session with a server that speaks the ZooKeeper protocol.
 *
 * <p>All state but the queue of submitted requests belongs to one event loop: the connection's. A new connection is used in this order, without
 * waiting in between: handshake; then proofs of identity, the question whose server it is, the watches; then the requests that waited. The state
 * becomes CONNECTED with the answer to the question, so that everything known of the server is known by then.
 *
 * <p>A request beyond the bound of the queue is refused at once, out of order; all others are completed in order.
 *
 * <p>When the server rejects the credentials the session gives up: it is not connected again, every request is refused with AUTH_FAILED, and the
 * session ends by its timeout (CONNECTING stays CONNECTING).
 */
final class WireSession implements BackendSession {
    private static final Logger LOG = LoggerFactory.getLogger(WireSession.class);
    private static final Duration GOODBYE = Duration.ofSeconds(1);
    private static final Duration SHORTEST_TICK = Duration.ofMillis(1);
    private static final byte[] NO_PASSWORD = new byte[16];

    private final EventLoop loop;
    private final Transport transport;
    private final BackendOptions options;
    private final TimeSource time;
    private final SessionListener listener;
    private final SerialExecutor dispatcher;
    private final Deliveries deliveries;
    private final RequestCodec codec;
    private final Connector connector;
    private final WatchRegistry watches = new WatchRegistry();
    private final SessionDeadline deadline = new SessionDeadline();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private final Queue<Exchange> submitted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicBoolean drainScheduled = new AtomicBoolean();
    private final AtomicBoolean closeRequested = new AtomicBoolean();

    // Written on the loop, read from anywhere.
    private volatile SessionState state = SessionState.CONNECTING;
    private volatile long id;
    private volatile ServerIdentity identity = ServerIdentity.FOREIGN;
    // Written and read on the dispatcher.
    private volatile long connectionNumber;

    // The loop's.
    private @Nullable Connection connection;
    private @Nullable Elapsed greetingSent;
    private @Nullable Elapsed newestProof;
    private byte[] password = NO_PASSWORD;
    private Duration timeout;
    private long zxidSeen;
    private long zxidReplied;
    private long connectionsMade;
    private boolean attached;
    private boolean closing;
    private boolean closeSent;
    private boolean ended;
    private @Nullable String authenticationFailure;
    private TimeSource.@Nullable Timer tick;

    WireSession(Transport transport, BackendOptions options, SessionListener listener) {
        this.transport = transport;
        this.options = options;
        this.listener = listener;
        time = options.time();
        timeout = options.sessionTimeout();
        loop = transport.nextLoop();
        dispatcher = new SerialExecutor("session dispatcher of " + transport, options.callbackExecutor(), time);
        deliveries = new Deliveries(dispatcher);
        codec = new RequestCodec(options.defaultAcl());
        connector = new Connector(this, transport, loop, time);
    }

    void open() {
        onLoop(() -> connector.connect(timeout));
    }

    // ---- from any thread

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

    /**
     * True on servers of ours. Apache ZooKeeper's leader hears of a session through its followers, and nothing on the wire tells whether there are any; so
     * false there, and a margin is the user's choice.
     */
    @Override
    public boolean deadlineIsStrict() {
        return identity.ours();
    }

    @Override
    public OptionalLong generation() {
        return identity.generation();
    }

    @Override
    public <R> CompletionStage<R> submit(Request<R> request) {
        Elapsed now = request.isRead() ? null : Elapsed.since(time);
        UserExchange<R> exchange = exchange(request, now);
        if (outstanding.incrementAndGet() > options.maxQueuedRequests()) {
            exchange.fail(
                    new RefusedException(
                            RefusalReason.LIMIT_EXCEEDED,
                            request.describe() + ": " + options.maxQueuedRequests()
                                    + " requests are under way in this session already"),
                    dispatcher);
        } else if (closeRequested.get()) {
            exchange.fail(new ClosedException(request.describe() + ": the session was closed"), dispatcher);
        } else {
            submitted.add(exchange);
            scheduleDrain();
        }
        return exchange.stage();
    }

    @SuppressWarnings("unchecked")
    private <R> UserExchange<R> exchange(Request<R> request, @Nullable Elapsed now) {
        return request instanceof RemoveWatch remove
                ? (UserExchange<R>) new RemoveWatchExchange(this, remove)
                : new UserExchange<>(this, request, now);
    }

    private void scheduleDrain() {
        if (drainScheduled.compareAndSet(false, true)) {
            onLoop(this::drain);
        }
    }

    @Override
    public CompletionStage<Void> closeAsync() {
        if (closeRequested.compareAndSet(false, true)) {
            submitted.add(new CloseExchange());
            onLoop(this::beginClose);
        }
        return closed;
    }

    /** Calls back on the dispatcher when the session is lost or closed. */
    void whenOver(Runnable callback) {
        closed.thenRun(callback);
    }

    /** Runs a task on the session's loop; if the loop has ended, so has the session. */
    void onLoop(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: the event loop has ended", this);
            failRejected();
        }
    }

    private void failRejected() {
        drainScheduled.set(false);
        for (Exchange next = submitted.poll(); next != null; next = submitted.poll()) {
            ConclaveException failure = new ClosedException(next.describe() + ": the backend was closed");
            if (next instanceof UserExchange<?> exchange) {
                exchange.fail(failure, dispatcher);
            }
        }
        dispatcher.execute(() -> closed.complete(null));
    }

    // ---- what exchanges and the connector need

    RequestCodec codec() {
        return codec;
    }

    Deliveries deliveries() {
        return deliveries;
    }

    Elapsed mark() {
        return Elapsed.since(time);
    }

    /** A user's request has been completed. */
    void completed() {
        outstanding.decrementAndGet();
    }

    void register(UserExchange.Registration registration) {
        watches.add(registration.kind(), registration.path(), registration.watcher());
    }

    /** What the server may forget when this watcher goes. */
    Optional<WatcherType> forgettable(RemoveWatch request) {
        Set<WatchRegistry.Kind> others = EnumSet.noneOf(WatchRegistry.Kind.class);
        Set<WatchRegistry.Kind> own = EnumSet.noneOf(WatchRegistry.Kind.class);
        Connection current = connection;
        if (current != null) {
            for (Exchange exchange : current.inFlight()) {
                if (exchange instanceof UserExchange<?> user) {
                    user.registration()
                            .filter(registration -> registration.path().equals(request.path()))
                            .ifPresent(registration -> (registration.watcher().equals(request.watcher()) ? own : others)
                                    .add(registration.kind()));
                }
            }
        }
        return watches.forgettable(request.path(), request.watcher(), others, own);
    }

    /** Removes a watcher here and tells it; false if it was not set. */
    boolean forget(RemoveWatch request) {
        boolean found = watches.remove(request.path(), request.watcher());
        if (found) {
            NodeEvent event = new NodeEvent(NodeEvent.Type.WATCH_REMOVED, request.path(), -1);
            deliveries.add(new Notification(request.watcher(), event));
        }
        return found;
    }

    /** An answer proves that the session lived at the server after the mark. */
    void proven(Elapsed mark) {
        Elapsed newest = newestProof;
        if (newest == null || mark.isAfter(newest)) {
            newestProof = mark;
        }
    }

    // ---- sending

    private void drain() {
        drainScheduled.set(false);
        Connection current = connection;
        if (cannotSend()) {
            failQueue(this::noLongerPossible);
        } else if (current != null && attached) {
            sendQueue(current);
        } else if (closing) {
            failQueue(this::noLongerPossible);
        }
    }

    private boolean cannotSend() {
        return ended || authenticationFailure != null || state == SessionState.LOST;
    }

    private void sendQueue(Connection current) {
        while (current.mayWrite()) {
            Exchange next = submitted.poll();
            if (next == null) {
                break;
            }
            if (closeSent && !(next instanceof CloseExchange)) {
                next.failed(noLongerPossible(next.describe()));
            } else {
                closeSent |= next instanceof CloseExchange;
                current.send(next);
            }
        }
        current.flush();
    }

    private ConclaveException noLongerPossible(String request) {
        String refused = authenticationFailure;
        if (state == SessionState.LOST) {
            return new SessionGoneException(request + ": the session was lost");
        }
        if (refused != null && !closing) {
            return new RefusedException(RefusalReason.AUTH_FAILED, request + ": " + refused);
        }
        return new ClosedException(request + ": the session was closed");
    }

    private void failQueue(Function<String, ConclaveException> reason) {
        for (Exchange next = submitted.poll(); next != null; next = submitted.poll()) {
            next.failed(reason.apply(next.describe()));
        }
    }

    // ---- events of the connection, on the loop

    void onAttempt(Connection attempt) {
        connection = attempt;
        attached = false;
        LOG.debug("{}: trying {}", this, attempt);
    }

    void onOpen(Connection opened) {
        greetingSent = mark();
        opened.greet(new ConnectRequest(0, zxidSeen, timeoutMs(), id, password, false, true));
    }

    private int timeoutMs() {
        return (int) Math.min(Integer.MAX_VALUE, options.sessionTimeout().toMillis());
    }

    void onGreeted(Connection opened, ConnectResponse response) {
        if (response.timeoutMs() <= 0) {
            onExpired(opened);
            return;
        }
        if (id != 0 && response.sessionId() != id) {
            opened.shut("it resumed session 0x" + Long.toHexString(response.sessionId()) + " instead");
            return;
        }
        byte[] granted = response.password();
        password = granted == null ? NO_PASSWORD : granted;
        id = response.sessionId();
        timeout = Duration.ofMillis(response.timeoutMs());
        Elapsed sent = greetingSent;
        deadline.extend(sent == null ? mark() : sent, timeout);
        if (deadline.remaining().isZero()) {
            lose("its time had passed before the server answered", true);
            return;
        }
        attached = true;
        introduce(opened);
        if (closing) {
            submitted.add(new CloseExchange());
        }
        sendQueue(opened);
        scheduleTick();
    }

    /** What goes out before the user's requests. */
    private void introduce(Connection opened) {
        for (Authentication proof : options.authentications()) {
            opened.sendSpecial(Xid.AUTH, new AuthRequest(0, proof.scheme(), proof.credentials()));
        }
        opened.send(new IdentityExchange(opened));
        watches.resume(zxidReplied).forEach(request -> opened.sendSpecial(Xid.SET_WATCHES, request));
    }

    private void onExpired(Connection opened) {
        if (id == 0) {
            opened.shut("the server refused to open a session");
        } else if (closing) {
            end();
        } else {
            lose("the server has expired it", false);
        }
    }

    private void onIdentified(Connection opened, ServerIdentity server) {
        identity = server;
        connector.accepted();
        if (!closing && state != SessionState.CONNECTED) {
            LOG.info(
                    "{}: {} over {}, timeout {} ms{}",
                    this,
                    state == SessionState.CONNECTING ? "connected" : "resumed",
                    opened,
                    timeout.toMillis(),
                    server.ours() ? ", cluster " + server.clusterId() : "");
            count("session.connected", transport.toString());
            become(SessionState.CONNECTED);
        }
    }

    void onAuthenticated(int err) {
        if (err == ErrorCode.OK.code()) {
            return;
        }
        String failure = "the server rejected the credentials: " + ErrorCode.describe(err);
        LOG.error("{}: {}; every request is refused from now on", this, failure);
        authenticationFailure = failure;
        Connection current = connection;
        if (current != null) {
            // The server executes nothing behind a rejected proof, so what is in flight is refused, not unknown.
            current.takeInFlight().forEach(exchange -> exchange.failed(noLongerPossible(exchange.describe())));
            current.shut(failure);
        }
    }

    void onWatchesSet(Connection opened, int err) {
        if (err != ErrorCode.OK.code()) {
            LOG.warn("{}: {} could not set the watches again: {}", this, opened, ErrorCode.describe(err));
            opened.shut("watches were not set again: " + ErrorCode.describe(err));
        }
    }

    void onZxid(long zxid) {
        if (zxid > 0) {
            zxidReplied = zxid;
            zxidSeen = Math.max(zxidSeen, zxid);
        }
    }

    void onEvent(ReplyHeader header, WatcherEvent event) {
        Optional<EventType> type = event.eventType();
        if (type.isEmpty() || !event.path().startsWith("/")) {
            LOG.debug("{}: ignored event {}", this, event);
            return;
        }
        // An event may come before any reply that says so: a server behind it must not serve us.
        zxidSeen = Math.max(zxidSeen, header.zxid());
        NodePath path = NodePath.of(event.path());
        NodeEvent.Type kind = kind(type.get());
        NodeEvent told = new NodeEvent(kind, path, header.zxid() > 0 ? header.zxid() : -1);
        List<Watcher> listeners = watches.fire(kind, path);
        listeners.forEach(watcher -> deliveries.add(new Notification(watcher, told)));
    }

    private static NodeEvent.Type kind(EventType type) {
        return switch (type) {
            case NODE_CREATED -> NodeEvent.Type.CREATED;
            case NODE_DELETED -> NodeEvent.Type.DELETED;
            case NODE_DATA_CHANGED -> NodeEvent.Type.DATA_CHANGED;
            case NODE_CHILDREN_CHANGED -> NodeEvent.Type.CHILDREN_CHANGED;
        };
    }

    /** A request was answered with an error that may concern more than itself. */
    void onError(int err, String request) {
        Connection current = connection;
        if (Refusals.endsSession(err)) {
            lose("the server said so in its answer to " + request, false);
        } else if (Refusals.endsConnection(err) && current != null) {
            current.shut("it answered " + request + " with " + ErrorCode.describe(err));
        }
    }

    void onReadComplete() {
        Elapsed proof = newestProof;
        newestProof = null;
        if (proof != null && state.isLive()) {
            deadline.extend(proof, timeout);
            if (deadline.remaining().isZero()) {
                onDeadline();
            }
        }
        deliveries.flush();
    }

    void onWritable() {
        drain();
    }

    void onShut(Connection gone, String reason) {
        if (gone != connection) {
            return;
        }
        connection = null;
        connector.ended(gone);
        boolean wasAttached = attached;
        attached = false;
        if (wasAttached) {
            LOG.info("{}: lost the {}: {}", this, gone, reason);
        } else {
            LOG.debug("{}: {} failed: {}", this, gone, reason);
            count("connection.failed", gone.toString());
        }
        if (state == SessionState.CONNECTED) {
            become(SessionState.SUSPENDED);
            count("session.suspended", transport.toString());
        }
        failInFlight(gone, reason);
        reconnect();
    }

    private static void failInFlight(Connection gone, String reason) {
        for (Exchange exchange : gone.takeInFlight()) {
            if (exchange.isLocal()) {
                exchange.answeredHere();
            } else {
                exchange.connectionLost(reason);
            }
        }
    }

    private void reconnect() {
        if (ended || state == SessionState.LOST) {
            return;
        }
        if (authenticationFailure != null) {
            failQueue(this::noLongerPossible);
        } else if (closing) {
            failQueue(this::noLongerPossible);
            if (id == 0 || connector.isRoundOver()) {
                end();
            } else {
                connector.connect(timeout);
            }
        } else {
            connector.connect(timeout);
        }
        scheduleTick();
    }

    // ---- the clock

    private void scheduleTick() {
        tick(deadline.remaining());
    }

    /** Pings, gives up the connection or the session, each when its time has come; then waits for the next of these moments. */
    private void onTick() {
        if (ended || id == 0 || state == SessionState.LOST) {
            return;
        }
        Duration left = deadline.remaining();
        if (left.isZero()) {
            onDeadline();
            return;
        }
        Duration third = timeout.dividedBy(3);
        Connection current = connection;
        if (current != null && attached && left.compareTo(third) <= 0) {
            current.shut("no answer that proves the session alive for two thirds of its timeout");
            return;
        }
        tick(left);
    }

    private void tick(Duration left) {
        if (id == 0 || ended) {
            return;
        }
        Duration third = timeout.dividedBy(3);
        Duration next = left;
        Connection current = connection;
        if (current != null && attached) {
            next = left.minus(third);
            Duration untilPing = next.minus(third);
            if (!current.awaitsPing()) {
                if (untilPing.compareTo(SHORTEST_TICK) <= 0) {
                    current.ping(mark());
                } else {
                    next = untilPing;
                }
            }
        }
        TimeSource.Timer waiting = tick;
        if (waiting != null) {
            waiting.cancel();
        }
        // What is left shrinks a little faster than time passes.
        Duration delay = next.minus(next.dividedBy(100));
        tick = time.schedule(delay.compareTo(SHORTEST_TICK) < 0 ? SHORTEST_TICK : delay, () -> onLoop(this::onTick));
    }

    private void onDeadline() {
        if (closing) {
            end();
        } else {
            lose("nothing proved it alive within its timeout of " + timeout.toMillis() + " ms", true);
        }
    }

    // ---- the end

    private void lose(String reason, boolean byLocalClock) {
        if (!state.isLive()) {
            return;
        }
        LOG.info("{}: lost: {}", this, reason);
        count("session.lost", transport.toString());
        if (state == SessionState.CONNECTING) {
            become(SessionState.CONNECTED);
        }
        Connection last = connection;
        connection = null;
        become(SessionState.LOST);
        stop();
        if (last != null) {
            last.takeInFlight().forEach(exchange -> exchange.failed(noLongerPossible(exchange.describe())));
            depart(last, byLocalClock);
        }
        failQueue(this::noLongerPossible);
        deliveries.add(() -> closed.complete(null));
    }

    private void depart(Connection last, boolean goodbye) {
        if (goodbye) {
            last.sayGoodbye();
            time.schedule(GOODBYE, () -> onLoop(() -> last.shut("the session is lost")));
        } else {
            last.shut("the session is lost");
        }
    }

    private void stop() {
        connector.stop();
        watches.clear();
        TimeSource.Timer waiting = tick;
        if (waiting != null) {
            waiting.cancel();
        }
    }

    private void beginClose() {
        if (ended || !state.isLive()) {
            failQueue(this::noLongerPossible);
            return;
        }
        closing = true;
        become(SessionState.CLOSED);
        if (connection != null && attached) {
            drain();
        } else {
            failQueue(this::noLongerPossible);
            if (id == 0 || authenticationFailure != null || connector.isRoundOver()) {
                end();
            }
        }
    }

    /** The session is over at its owner's wish; confirmed, or as good as it gets. */
    void end() {
        if (ended) {
            return;
        }
        if (state.isLive()) {
            closing = true;
            become(SessionState.CLOSED);
        }
        ended = true;
        LOG.info("{}: closed", this);
        stop();
        Connection last = connection;
        connection = null;
        if (last != null) {
            for (Exchange exchange : last.takeInFlight()) {
                exchange.failed(
                        new OutcomeUnknownException(exchange.describe() + ": the session was closed before the reply"));
            }
            last.shut("the session is closed");
        }
        failQueue(this::noLongerPossible);
        deliveries.add(() -> closed.complete(null));
    }

    private void become(SessionState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("A session that is " + state + " cannot become " + next);
        }
        state = next;
        long number = next == SessionState.CONNECTED ? ++connectionsMade : 0;
        deliveries.add(() -> {
            if (number > 0) {
                connectionNumber = number;
            }
            listener.onState(next);
        });
    }

    private void count(String name, String subject) {
        try {
            options.metrics().count(name, subject);
        } catch (RuntimeException e) {
            LOG.error("{}: the metrics hook failed at {}", this, name, e);
        }
    }

    @Override
    public String toString() {
        return "session 0x" + Long.toHexString(id) + " at " + transport;
    }

    /** An event on its way to a watcher. */
    private record Notification(Watcher watcher, NodeEvent event) implements Runnable {
        @Override
        public void run() {
            watcher.onEvent(event);
        }
    }

    /** Asks whose server this is. */
    private final class IdentityExchange extends Exchange {
        private final Connection asked;

        IdentityExchange(Connection asked) {
            this.asked = asked;
        }

        @Override
        String describe() {
            return "get " + ServerIdentity.PATH;
        }

        @Override
        Optional<RequestBody> body() {
            return Optional.of(new GetDataRequest(ServerIdentity.PATH, false));
        }

        @Override
        void answered(ReplyHeader header, JuteReader in) {
            if (Refusals.endsSession(header.err()) || Refusals.endsConnection(header.err())) {
                onError(header.err(), describe());
                return;
            }
            ServerIdentity server = ServerIdentity.FOREIGN;
            if (header.err() == ErrorCode.OK.code()
                    && ReplyBody.decode(OpCode.GET_DATA, in) instanceof GetDataReply reply) {
                byte[] data = reply.data();
                server = ServerIdentity.parse(data == null ? NO_PASSWORD : data);
            }
            onIdentified(asked, server);
        }

        @Override
        void failed(ConclaveException failure) {
            // The connection has ended, and the next one asks again.
        }
    }

    /** Ends the session at the server. */
    private final class CloseExchange extends Exchange {
        @Override
        String describe() {
            return "close session";
        }

        @Override
        Optional<RequestBody> body() {
            return Optional.of(EmptyRequest.CLOSE_SESSION);
        }

        @Override
        void answered(ReplyHeader header, JuteReader in) {
            end();
        }

        @Override
        void failed(ConclaveException failure) {
            // The next connection, if there is one, sends it again.
        }
    }
}
