package io.conclave.client;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.SessionListener;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when a session connects, is connected, suspended, moved, lost and closed. It is told when a connection opens
 * or ends, when time has passed, and when the owner closes the session; each of these is an event on one event loop,
 * the connection's, which owns all state here and in the {@link SessionParts}.
 *
 * <p>Other classes are given the parts that they need, never the machine, so that nothing but these events changes the
 * state. What the server says out of turn goes to {@link ServerReports}, and answers go to their {@link Exchange}.
 *
 * <p>A new connection is used in this order, without waiting in between: handshake; then credentials, the request for
 * the server's identity, the watches ({@link Introduction}); then the waiting requests. The state becomes CONNECTED
 * with the server's identity, so that all callers see it from then on.
 */
final class SessionMachine implements ConnectionOwner {
    private static final Logger LOG = LoggerFactory.getLogger(SessionMachine.class);

    private final ClientTransport transport;
    private final BackendOptions options;
    private final Executor dispatcher;
    private final LostSessions lostSessions;
    private final SessionParts parts;
    private final SessionStatus status;
    private final SessionClock clock;
    private final SessionTicket ticket;
    private final SessionLink link;
    private final RequestQueue queue;
    private final ServerReports reports;
    private final Introduction introduction;
    private final Credentials credentials;
    private final Connector connector;
    private final SessionMove move;
    private final EnsembleFollower follower;

    private boolean everAttached; // requests may have been sent

    // Written on the loop, read from anywhere.
    private volatile ServerIdentity identity = ServerIdentity.FOREIGN;

    private volatile @Nullable IOException connectFailure; // of the last attempt, if that has failed

    SessionMachine(
            ClientTransport transport,
            EventLoop eventLoop,
            BackendOptions options,
            SessionListener listener,
            Executor dispatcher,
            LostSessions lostSessions) {
        this.transport = transport;
        this.options = options;
        this.lostSessions = lostSessions;
        this.dispatcher = dispatcher;
        SessionLoop loop = new SessionLoop(eventLoop, this::onLoopEnded);
        Deliveries deliveries = new Deliveries(dispatcher);
        status = new SessionStatus(listener, deliveries);
        clock = new SessionClock(options.time(), options.sessionTimeout(), () -> loop.execute(this::onTick));
        ticket = new SessionTicket();
        link = new SessionLink();
        queue = new RequestQueue(options.maxQueuedRequests(), dispatcher);
        parts = new SessionParts(
                loop,
                deliveries,
                new RequestCodec(options.defaultAcl()),
                queue,
                status,
                clock,
                ticket,
                new SessionWatches(deliveries),
                link,
                this::onError);
        reports = new ServerReports(parts, transport, this);
        follower = new EnsembleFollower(parts, transport);
        credentials = new Credentials(parts, reports, options.authentications());
        introduction = new Introduction(parts, transport, follower, this::onIdentified);
        connector = new Connector(loop, transport, options.time(), this::attempt);
        move = new SessionMove(loop, options.time());
    }

    /** A session whose loop has ended is over. On the thread that had a task for the loop. */
    private void onLoopEnded() {
        LOG.debug("{}: the event loop has ended", this);
        queue.failWithoutLoop();
        dispatcher.execute(this::tellOver);
    }

    private void tellOver() {
        status.over().complete(null);
    }

    SessionParts parts() {
        return parts;
    }

    /** The identity of the server that answered last. From any thread. */
    ServerIdentity identity() {
        return identity;
    }

    /** Why the last attempt to connect has failed, if it has. From any thread. */
    Optional<Throwable> connectFailure() {
        return Optional.ofNullable(connectFailure);
    }

    // ---- sending

    /** Sends what was submitted, if it can be sent now, and fails it if it never can. */
    void drain() {
        queue.drainBegins();
        Connection carrier = link.attached();
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
        connector.connect(clock.timeout(), !status.wasConnected());
    }

    private Connection attempt(ClientTransport.Server server) {
        Connection attempt = new Connection(ownerOfNext(), reports, parts, server.toString());
        link.attempt(attempt);
        LOG.debug("{}: trying {}", this, attempt);
        return attempt;
    }

    /** A session opens when those that the client has lost before have ended: what is looked for in it stays so. */
    private ConnectionOwner ownerOfNext() {
        Optional<LostSessions.Lost> lost = ticket.isIssued() ? Optional.empty() : lostSessions.next();
        return lost.<ConnectionOwner>map(session -> new LostSessionEnd(
                        session, lostSessions, parts, credentials, this::onLostSessionAttended, this))
                .orElse(this);
    }

    private void onLostSessionAttended(Connection gone, Duration pause) {
        if (link.is(gone)) {
            link.release();
            connector.served(pause);
            reconnect();
        }
    }

    @Override
    public void onOpen(Connection opened) {
        clock.greetingSent();
        opened.greet(ticket.show(options.sessionTimeout()));
    }

    @Override
    public void onGreeted(Connection opened, ConnectResponse response) {
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
        scheduleTick(); // the proof may take its time
        credentials.sendOver(opened, () -> attach(opened));
    }

    private void attach(Connection opened) {
        if (status.isOver()) {
            return;
        }
        link.attach();
        everAttached = true;
        connectFailure = null;
        opened.pings().begin();
        introduction.sendOver(opened);
        if (status.isClosing()) {
            queue.closeAgain(new CloseExchange(err -> end()));
        }
        queue.sendTo(opened, status::noLongerPossible);
        scheduleTick();
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

    private void onIdentified(Connection opened, ServerIdentity server) {
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

    /** A request was answered with an error that may concern more than itself. */
    private void onError(int err, String request) {
        if (ServerErrors.endsSession(err)) {
            lose("the server said so in its answer to " + request, false);
        } else if (ServerErrors.endsConnection(err)) {
            link.shut("it answered " + request + " with " + ErrorCode.describe(err));
        } else if (ServerErrors.wantsCredentials(err)) {
            reports.onRejected(given(), "it answered " + request + " with " + ErrorCode.describe(err));
        }
    }

    private String given() {
        return options.authentications().stream().map(Authentication::scheme).collect(Collectors.joining(","));
    }

    @Override
    public void onReadComplete() {
        if (status.isLive() && !clock.countProofs()) {
            onDeadline();
        }
        parts.deliveries().flush();
    }

    @Override
    public void onWritable() {
        drain();
    }

    // ---- losing the connection

    /** Nothing is in flight on a connection whose server has said goodbye. */
    @Override
    public void onLeft(Connection left) {
        left.shut("its server stops");
    }

    @Override
    public void onShut(Connection gone, String reason) {
        if (!link.is(gone)) {
            return;
        }
        boolean wasAttached = link.attached() == gone;
        link.release();
        connector.ended(gone);
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
        if (wasAttached && gone.isLeft() && !parts.watches().isAnyPersistent()) {
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
            if (isCloseHopeless()) {
                end();
            } else {
                connect();
            }
        } else if (status.areCredentialsRejected()) {
            queue.failAll(status::noLongerPossible);
            giveUpUnopened();
        } else {
            connect();
        }
        scheduleTick();
    }

    /**
     * Rejected at the end of a lost session, which the server has given its time anew: to try again before it has
     * expired there would keep it alive.
     */
    private void giveUpUnopened() {
        if (!ticket.isIssued()) {
            clock.scheduleTick(clock.timeout().multipliedBy(2), null);
        }
    }

    // ---- as time passes

    private void scheduleTick() {
        if (ticket.isIssued() && !status.isEnded()) {
            clock.scheduleTick(clock.remaining(), link.attached());
        }
    }

    /**
     * Gives up the connection or the session, or pings, each when its time has come; then waits for the next of these
     * moments.
     */
    private void onTick() {
        if (status.isOver()) {
            return;
        }
        if (!ticket.isIssued()) {
            lose("its credentials were rejected before it was opened", false);
            return;
        }
        Duration left = clock.remaining();
        Connection carrier = link.attached();
        if (left.isZero()) {
            onDeadline();
        } else if (carrier != null && clock.isSilentTooLong(left, carrier)) {
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
        if (byLocalClock && mayHaveWritten()) {
            lostSessions.add(new LostSessions.Lost(ticket.showAlone(options.sessionTimeout()), clock::promised));
        }
        Connection last = link.release();
        status.become(SessionState.LOST);
        stop();
        if (last != null) {
            last.failInFlight(status::noLongerPossible);
            last.shut("the session is lost");
        }
        queue.failAll(status::noLongerPossible);
        parts.deliveries().add(this::tellOver);
    }

    /** Whether a server may have executed something for it: none does for a client whose credentials it rejects. */
    private boolean mayHaveWritten() {
        return status.areCredentialsRejected() ? status.wasConnected() : everAttached;
    }

    private void stop() {
        connector.stop();
        move.end();
        parts.watches().clear();
        clock.stop();
    }

    /** The owner closes the session. */
    void beginClose() {
        if (!status.isLive()) {
            queue.failAll(status::noLongerPossible);
            return;
        }
        status.become(SessionState.CLOSED);
        Connection carrier = link.attached();
        if (carrier != null) {
            carrier.stay();
            drain();
        } else {
            queue.failAll(status::noLongerPossible);
            if (isCloseHopeless()) {
                end();
            }
        }
    }

    /** Whether there is no session to close, or no server to ask for it. */
    private boolean isCloseHopeless() {
        return !ticket.isIssued() || connector.isRoundOver() || status.areCredentialsRejected();
    }

    /** The owner's close is done, confirmed by the server where possible. */
    void end() {
        if (!status.end()) {
            return;
        }
        LOG.info("{}: closed", this);
        stop();
        Connection last = link.release();
        if (last != null) {
            last.failInFlight(
                    request -> new OutcomeUnknownException(request + ": the session was closed before the reply"));
            last.shut("the session is closed");
        }
        queue.failAll(status::noLongerPossible);
        parts.deliveries().add(this::tellOver);
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
