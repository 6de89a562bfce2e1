package io.conclave.client;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.conclave.request.AddWatch;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.SessionListener;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what a session does when a connection opens or ends, the server answers, time passes or the owner closes the
 * session. Each of these is an event on one event loop, the connection's, which owns all state here and in the parts:
 * {@link RequestQueue}, {@link SessionStatus}, {@link SessionClock}, {@link SessionTicket}, {@link SessionWatches} and
 * {@link Connector} each keep what they are named for.
 *
 * <p>A new connection is used in this order, without waiting in between: handshake; then credentials, the request for
 * the server's identity, the watches; then the waiting requests. The state becomes CONNECTED with the server's
 * identity, so that all callers see it from then on.
 */
final class SessionMachine {
    private static final Logger LOG = LoggerFactory.getLogger(SessionMachine.class);
    private static final Duration GOODBYE = Duration.ofSeconds(1);

    private final EventLoop loop;
    private final ClientTransport transport;
    private final BackendOptions options;
    private final Executor dispatcher;
    private final Deliveries deliveries;
    private final RequestCodec codec;
    private final RequestQueue queue;
    private final SessionStatus status;
    private final SessionClock clock;
    private final SessionTicket ticket = new SessionTicket();
    private final SessionWatches watches;
    private final Connector connector;
    private final SessionMove move;
    private final EnsembleFollower follower;

    // Written on the loop, read from anywhere.
    private volatile ServerIdentity identity = ServerIdentity.FOREIGN;

    private volatile @Nullable IOException connectFailure; // of the last attempt, if that has failed

    // The loop's.
    private @Nullable Connection connection;
    private boolean attached;

    SessionMachine(ClientTransport transport, BackendOptions options, SessionListener listener, Executor dispatcher) {
        this.transport = transport;
        this.options = options;
        this.dispatcher = dispatcher;
        loop = transport.nextLoop();
        deliveries = new Deliveries(dispatcher);
        codec = new RequestCodec(options.defaultAcl());
        queue = new RequestQueue(options.maxQueuedRequests(), dispatcher);
        status = new SessionStatus(listener, deliveries);
        clock = new SessionClock(options.time(), options.sessionTimeout(), () -> onLoop(this::onTick));
        watches = new SessionWatches(deliveries);
        connector = new Connector(this, transport, loop, options.time());
        move = new SessionMove(this, options.time());
        follower = new EnsembleFollower(this, transport);
    }

    /** Runs a task on the session's loop; if the loop has ended, so has the session. From any thread. */
    void onLoop(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: the event loop has ended", this);
            queue.failWithoutLoop();
            dispatcher.execute(this::tellOver);
        }
    }

    private void tellOver() {
        status.over().complete(null);
    }

    // ---- its parts

    RequestCodec codec() {
        return codec;
    }

    Deliveries deliveries() {
        return deliveries;
    }

    RequestQueue queue() {
        return queue;
    }

    SessionStatus status() {
        return status;
    }

    SessionClock clock() {
        return clock;
    }

    SessionTicket ticket() {
        return ticket;
    }

    SessionWatches watches() {
        return watches;
    }

    /** Of the server that was asked last. From any thread. */
    ServerIdentity identity() {
        return identity;
    }

    /** Why the last attempt to connect has failed, if it has. From any thread. */
    Optional<Throwable> connectFailure() {
        return Optional.ofNullable(connectFailure);
    }

    /** The requests sent and not yet answered, oldest first. */
    Iterable<Exchange> inFlight() {
        Connection current = connection;
        return current == null ? List.of() : current.inFlight();
    }

    /** The connection that carries the session, if one does. */
    private @Nullable Connection attached() {
        return attached ? connection : null;
    }

    // ---- sending

    /** Sends what was submitted, if it can be sent now, and fails it if it never can. */
    void drain() {
        queue.drainBegins();
        Connection carrier = attached();
        if (status.isUseless()) {
            queue.failAll(status::noLongerPossible);
        } else if (carrier != null) {
            queue.sendTo(carrier, status::noLongerPossible);
        } else if (status.isClosing()) {
            queue.failAll(status::noLongerPossible);
        }
    }

    // ---- connecting

    void connect() {
        connector.connect(clock.timeout());
    }

    void onAttempt(Connection attempt) {
        connection = attempt;
        attached = false;
        LOG.debug("{}: trying {}", this, attempt);
    }

    void onOpen(Connection opened) {
        clock.greetingSent();
        opened.greet(ticket.show(options.sessionTimeout()));
    }

    void onGreeted(Connection opened, ConnectResponse response) {
        if (response.timeoutMs() <= 0) {
            onExpired(opened);
            return;
        }
        if (ticket.isForAnother(response)) {
            opened.shut("it resumed session 0x" + Long.toHexString(response.sessionId()) + " instead");
            return;
        }
        ticket.accepted(response);
        if (!clock.granted(Duration.ofMillis(response.timeoutMs()))) {
            lose("its time had passed before the server answered", true);
            return;
        }
        attached = true;
        connectFailure = null;
        introduce(opened);
        if (status.isClosing()) {
            queue.closeAgain(new CloseExchange(this));
        }
        queue.sendTo(opened, status::noLongerPossible);
        scheduleTick();
    }

    /** Sends the requests that precede the user's. */
    private void introduce(Connection opened) {
        for (Authentication proof : options.authentications()) {
            opened.sendSpecial(Xid.AUTH, new RequestBody.Auth(0, proof.scheme(), proof.credentials()));
        }
        opened.send(new IdentityExchange(this, opened, transport.servers().size() > 1));
        follower.ask(opened);
        List<WatchRequest.SetWatches> again = watches.resume(ticket.zxidWatched());
        ticket.watchesSent(again.size());
        again.forEach(request -> opened.sendSpecial(Xid.SET_WATCHES, request));
    }

    private void onExpired(Connection opened) {
        if (!ticket.isIssued()) {
            opened.shut("the server refused to open a session");
        } else if (status.isClosing()) {
            end();
        } else {
            lose("the server has expired it", false);
        }
    }

    void onIdentified(Connection opened, ServerIdentity server) {
        identity = server;
        connector.accepted();
        if (move.isUnderWay()) {
            move.end();
            LOG.info("{}: moved to {}", this, opened);
            count("session.moved", transport.toString());
        }
        if (!status.isClosing() && !status.is(SessionState.CONNECTED)) {
            LOG.info(
                    "{}: {} over {}, timeout {} ms{}",
                    this,
                    status.is(SessionState.CONNECTING) ? "connected" : "resumed",
                    opened,
                    clock.timeout().toMillis(),
                    server.ours() ? ", cluster " + server.clusterId() : "");
            count("session.connected", transport.toString());
            status.become(SessionState.CONNECTED);
        }
    }

    // ---- what the server says

    void onAuthenticated(int err) {
        if (err == ErrorCode.OK.code()) {
            return;
        }
        String failure = "the server rejected the credentials: " + ErrorCode.describe(err);
        LOG.error("{}: {}; every request is refused from now on", this, failure);
        status.rejectCredentials(failure);
        Connection current = connection;
        if (current != null) {
            // The server executes nothing behind a rejected proof, so what is in flight is refused, not unknown.
            current.failInFlight(status::noLongerPossible);
            current.shut(failure);
        }
    }

    void onWatchesSet(Connection opened, int err) {
        ticket.watchesSet();
        if (err != ErrorCode.OK.code()) {
            LOG.warn("{}: {} could not set the watches again: {}", this, opened, ErrorCode.describe(err));
            opened.shut("watches were not set again: " + ErrorCode.describe(err));
        }
    }

    /**
     * A persistent watch was refused: reads that relied on it were sent without a watch, and are sent again on a new
     * connection.
     */
    void onNotWatched(AddWatch refused) {
        Connection current = connection;
        if (watches.notSet(refused, inFlight()) && current != null) {
            current.shut(refused.describe() + " was refused");
        }
    }

    void onEvent(Connection teller, ReplyHeader header, WatcherEvent event) {
        Optional<EventType> type = event.eventType();
        if (type.isEmpty() || !event.path().startsWith("/")) {
            LOG.debug("{}: ignored event {}", this, event);
            return;
        }
        if (type.get() == EventType.NODE_DATA_CHANGED && event.path().equals(ServerIdentity.PATH)) {
            onGoodbye(teller);
            return;
        }
        ticket.seen(header.zxid());
        watches.tell(type.get(), NodePath.of(event.path()), header.zxid());
    }

    /**
     * The server is about to stop, and answers until then: the session waits for the requests that were sent, and sends
     * all others to another server.
     */
    private void onGoodbye(Connection teller) {
        if (transport.servers().size() > 1 && attached() == teller && !status.isClosing()) {
            LOG.debug("{}: the {} ends soon", this, teller);
            teller.leave();
        }
    }

    /** Nothing is in flight on a connection whose server has said goodbye. */
    void onLeft(Connection left) {
        left.shut("its server stops");
    }

    /** A request was answered with an error that may concern more than itself. */
    void onError(int err, String request) {
        Connection current = connection;
        if (ServerErrors.endsSession(err)) {
            lose("the server said so in its answer to " + request, false);
        } else if (ServerErrors.endsConnection(err) && current != null) {
            current.shut("it answered " + request + " with " + ErrorCode.describe(err));
        }
    }

    void onReadComplete() {
        if (status.isLive() && !clock.countProofs()) {
            onDeadline();
        }
        deliveries.flush();
    }

    void onWritable() {
        drain();
    }

    // ---- losing the connection

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
            connectFailure = gone.failure(reason);
            count("connection.failed", gone.toString());
        }
        interrupted(gone, wasAttached);
        gone.loseInFlight(reason);
        reconnect();
    }

    /** A client that lost nothing is not told, unless its watches missed events in the meantime. */
    private void interrupted(Connection gone, boolean wasAttached) {
        if (!status.is(SessionState.CONNECTED)) {
            return;
        }
        if (wasAttached && gone.isLeft() && !watches.isAnyPersistent()) {
            status.moved();
            move.begin(clock.timeout(), this::suspend);
        } else if (wasAttached || !move.isUnderWay()) {
            move.end();
            suspend();
        }
    }

    private void suspend() {
        if (status.is(SessionState.CONNECTED)) {
            status.become(SessionState.SUSPENDED);
            count("session.suspended", transport.toString());
        }
    }

    private void reconnect() {
        if (status.isOver()) {
            return;
        }
        if (status.isClosing()) {
            queue.failAll(status::noLongerPossible);
            if (!ticket.isIssued() || connector.isRoundOver() || status.areCredentialsRejected()) {
                end();
            } else {
                connect();
            }
        } else if (status.areCredentialsRejected()) {
            queue.failAll(status::noLongerPossible);
        } else {
            connect();
        }
        scheduleTick();
    }

    // ---- as time passes

    private void scheduleTick() {
        if (ticket.isIssued() && !status.isEnded()) {
            clock.scheduleTick(clock.remaining(), attached());
        }
    }

    /**
     * Gives up the connection or the session, or pings, each when its time has come; then waits for the next of these
     * moments.
     */
    private void onTick() {
        if (status.isOver() || !ticket.isIssued()) {
            return;
        }
        Duration left = clock.remaining();
        Connection carrier = attached();
        if (left.isZero()) {
            onDeadline();
        } else if (carrier != null && clock.isSilentTooLong(left)) {
            carrier.shut("no answer that proves the session alive for two thirds of its timeout");
        } else {
            follower.askIfOld(carrier);
            clock.scheduleTick(left, carrier);
        }
    }

    private void onDeadline() {
        if (status.isClosing()) {
            end();
        } else {
            lose(
                    "nothing proved it alive within its timeout of "
                            + clock.timeout().toMillis() + " ms",
                    true);
        }
    }

    // ---- the end

    private void lose(String reason, boolean byLocalClock) {
        if (!status.isLive()) {
            return;
        }
        LOG.info("{}: lost: {}", this, reason);
        if (status.is(SessionState.CONNECTING)) {
            status.become(SessionState.CONNECTED);
        }
        Connection last = connection;
        connection = null;
        status.become(SessionState.LOST);
        stop();
        if (last != null) {
            last.failInFlight(status::noLongerPossible);
            depart(last, byLocalClock);
        }
        queue.failAll(status::noLongerPossible);
        deliveries.add(this::tellOver);
    }

    private void depart(Connection last, boolean goodbye) {
        if (goodbye) {
            last.sayGoodbye();
            options.time().schedule(GOODBYE, () -> onLoop(() -> last.shut("the session is lost")));
        } else {
            last.shut("the session is lost");
        }
    }

    private void stop() {
        connector.stop();
        move.end();
        watches.clear();
        clock.stop();
    }

    /** The owner closes the session. */
    void beginClose() {
        if (!status.isLive()) {
            queue.failAll(status::noLongerPossible);
            return;
        }
        status.become(SessionState.CLOSED);
        Connection carrier = attached();
        if (carrier != null) {
            carrier.stay();
            drain();
        } else {
            queue.failAll(status::noLongerPossible);
            if (!ticket.isIssued() || status.areCredentialsRejected() || connector.isRoundOver()) {
                end();
            }
        }
    }

    /** The owner's close is done, confirmed by the server where possible. */
    void end() {
        if (!status.end()) {
            return;
        }
        LOG.info("{}: closed", this);
        stop();
        Connection last = connection;
        connection = null;
        if (last != null) {
            last.failInFlight(
                    request -> new OutcomeUnknownException(request + ": the session was closed before the reply"));
            last.shut("the session is closed");
        }
        queue.failAll(status::noLongerPossible);
        deliveries.add(this::tellOver);
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
        return "session 0x" + Long.toHexString(ticket.id()) + " at " + transport;
    }
}
