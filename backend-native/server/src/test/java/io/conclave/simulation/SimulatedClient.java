package io.conclave.simulation;

import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.WireRecord;
import io.conclave.protocol.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;

/**
 * A client at the level of the protocol: keeps a session over connections to one server after the other, sends pings,
 * gives a silent server up, and has every answer checked.
 */
final class SimulatedClient implements ClientNetwork.Listener {
    /** Called with the outcome of a request. */
    interface Outcome {
        /** @param reply null if there is none and will be none */
        void of(Reply reply);
    }

    record Reply(ReplyHeader header, ReplyBody body) {
        boolean isOk() {
            return header.err() == 0;
        }

        /** The server's disk is full: the request is not carried out. */
        boolean isNoRoom() {
            return header.err() == ErrorCode.NOT_READ_ONLY.code();
        }

        /** The server's tree does not know what is asked for: the request is not carried out. */
        boolean isUnknown() {
            return header.err() == ErrorCode.UNIMPLEMENTED.code();
        }
    }

    /** A request on its way. */
    static final class Request {
        final int xid;
        final RequestBody body;
        final String tag;
        final long sentUs;
        /** What any client had seen when it was sent. */
        final long seenZxid;

        /** What its session had been shown. */
        final long shownZxid;

        final Outcome outcome;

        Request(int xid, RequestBody body, String tag, long sentUs, long seenZxid, long shownZxid, Outcome outcome) {
            this.xid = xid;
            this.body = body;
            this.tag = tag;
            this.sentUs = sentUs;
            this.seenZxid = seenZxid;
            this.shownZxid = shownZxid;
            this.outcome = outcome;
        }
    }

    private enum State {
        AWAY,
        CONNECTING,
        ATTACHING,
        ATTACHED,
        DEAD
    }

    final int id;
    final Random random;
    private final Simulation world;
    private final VirtualTime time;
    private final Checks checks;
    final ClientWatches watches;
    final LockUser lock;
    private final int timeoutMs;

    private State state = State.AWAY;
    private ClientNetwork.Connection connection;
    private int connections;
    private ByteBuf received = Unpooled.buffer();
    private final Queue<Request> pending = new ArrayDeque<>();
    private final Queue<Long> pingsSentUs = new ArrayDeque<>();
    private int nextXid = 1;
    private long heardUs;
    private long handshakeSentUs;
    private boolean closingSession;

    private long sessionId;
    private byte[] password = new byte[16];
    private int sessions;
    private int attachments;
    private int number;
    private long lastZxid;
    private int answers;

    SimulatedClient(int id, Simulation world, Random seeds) {
        this.id = id;
        this.world = world;
        this.time = world.time;
        this.random = new Random(seeds.nextLong());
        this.checks = new Checks(world);
        this.watches = new ClientWatches(world.truth, this);
        this.lock = new LockUser(this, world);
        this.timeoutMs = 1000 + random.nextInt(3000);
    }

    // ---- what can be asked

    long sessionId() {
        return sessionId;
    }

    long lastZxid() {
        return lastZxid;
    }

    int answers() {
        return answers;
    }

    boolean isAttached() {
        return state == State.ATTACHED;
    }

    boolean isClosingSession() {
        return closingSession;
    }

    boolean isDead() {
        return state == State.DEAD;
    }

    boolean mayAsk(int inFlight) {
        return state == State.ATTACHED && !closingSession && pending.size() < inFlight;
    }

    Truth.Session session() {
        return sessionId == 0 ? null : world.truth.session(sessionId);
    }

    /** Names the next request. */
    String nextTag() {
        return Truth.Tags.tag(id, sessions, attachments, ++number);
    }

    // ---- connections

    void start() {
        time.after(random.nextInt(200_000), this::connect);
    }

    /** Never does anything again, without notice. */
    void die() {
        state = State.DEAD;
        connection = null;
        lock.lost();
    }

    private void connect() {
        if (state != State.AWAY) {
            return;
        }
        state = State.CONNECTING;
        received = Unpooled.buffer();
        int server = world.serverForClient(random);
        connection = world.clients.connect(id, server, this);
        world.trace.event("connect", id, server, "");
        heardUs = time.nowUs();
        giveUpLater(++connections, 300_000 + random.nextInt(700_000));
    }

    private void giveUpLater(int of, long delayUs) {
        time.after(delayUs, () -> {
            if (connections == of && (state == State.CONNECTING || state == State.ATTACHING)) {
                connection.close();
                away();
            }
        });
    }

    /** As if its network card had been pulled. */
    void disconnect() {
        if (state != State.AWAY && state != State.DEAD) {
            connection.close();
            away();
        }
    }

    private void away() {
        state = State.AWAY;
        connection = null;
        pingsSentUs.clear();
        Request[] lost = pending.toArray(new Request[0]);
        pending.clear();
        closingSession = false;
        for (Request request : lost) {
            if (request.outcome != null) {
                request.outcome.of(null);
            }
        }
        lock.disconnected();
        time.after(5_000 + random.nextInt(300_000), this::connect);
    }

    @Override
    public void connected() {
        if (state != State.CONNECTING) {
            return;
        }
        state = State.ATTACHING;
        handshakeSentUs = time.nowUs();
        write(new ConnectRequest(0, lastZxid, timeoutMs, sessionId, password, false, true), null);
    }

    @Override
    public void closed() {
        if (state != State.DEAD) {
            world.trace.event("closed", id, connection == null ? 0 : connection.server(), "");
            away();
        }
    }

    private void write(WireRecord header, WireRecord body) {
        ByteBuf buffer = Unpooled.buffer(128);
        if (body == null) {
            Frames.write(buffer, header);
        } else {
            Frames.write(buffer, header, body);
        }
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        connection.send(bytes);
    }

    // ---- requests

    /** Sends a request of the session. */
    void send(RequestBody body, String tag, Outcome outcome) {
        if (state != State.ATTACHED || (closingSession && body.opCode() != OpCode.CLOSE_SESSION)) {
            return;
        }
        Request request = new Request(nextXid++, body, tag, time.nowUs(), world.seenZxid(), lastZxid, outcome);
        world.trace.event("ask", id, request.xid, body);
        pending.add(request);
        write(new io.conclave.protocol.RequestHeader(request.xid, body.opCode().code()), body);
    }

    /** Ends the session as its owner does. */
    void closeSession() {
        lock.lost();
        closingSession = true;
        send(ConnectionRequest.Empty.CLOSE_SESSION, "", reply -> {
            if (reply != null && reply.isNoRoom()) {
                closingSession = false;
                lock.reconnected();
            } else if (reply != null) {
                world.trace.count("sessions closed");
                checks.require(
                        session() != null && session().closed,
                        () -> this + " is told that its session is closed, and it is not");
                sessionGone();
                connection.close();
                away();
            }
        });
    }

    private void ping(int of) {
        if (connections != of || state != State.ATTACHED) {
            return;
        }
        pingsSentUs.add(time.nowUs());
        write(new io.conclave.protocol.RequestHeader(Xid.PING, OpCode.PING.code()), ConnectionRequest.Empty.PING);
        time.after(timeoutMs * 1000L / 3, () -> ping(of));
    }

    private void watchSilence(int of) {
        if (connections != of || state != State.ATTACHED) {
            return;
        }
        long leftUs = heardUs + timeoutMs * 2000L / 3 - time.nowUs();
        if (leftUs <= 0) {
            world.trace.event("silence", id, connection.server(), "");
            connection.close();
            away();
        } else {
            time.after(leftUs, () -> watchSilence(of));
        }
    }

    // ---- answers

    @Override
    public void received(byte[] bytes) {
        if (state == State.DEAD) {
            return;
        }
        heardUs = time.nowUs();
        received.writeBytes(bytes);
        ClientNetwork.Connection from = connection;
        while (connection == from && connection != null) {
            Optional<ByteBuf> frame = Frames.next(received, Frames.DEFAULT_MAX_PAYLOAD_BYTES);
            if (frame.isEmpty()) {
                break;
            }
            if (state == State.ATTACHING) {
                attached(ConnectResponse.decode(new JuteReader(frame.get())));
            } else {
                answered(new JuteReader(frame.get()));
            }
        }
        received.discardSomeReadBytes();
    }

    private void attached(ConnectResponse response) {
        if (response.timeoutMs() <= 0) {
            Truth.Session session = session();
            checks.require(sessionId != 0, () -> this + " asked for a new session and is told that it is gone");
            checks.require(session.closed, () -> this + " is told that its session is gone, but it lives");
            world.trace.count("sessions lost");
            sessionGone();
            connection.close();
            away();
            return;
        }
        checks.require(
                sessionId == 0 || sessionId == response.sessionId(), () -> this + " gets another session: " + response);
        if (sessionId == 0) {
            sessionId = response.sessionId();
            password = response.password();
            sessions++;
            attachments = 0;
            checks.require(session() != null, () -> this + " gets a session that was never opened");
        }
        attachments++;
        state = State.ATTACHED;
        world.trace.event("attached", id, sessionId, connection.server());
        keptAlive(handshakeSentUs);
        if (watches.isAny()) {
            WatchRequest.SetWatches again =
                    watches.again(lastZxid, world.mistake().watchedSince(lastZxid));
            send(again, "", reply -> {
                if (reply != null) {
                    watches.setAgain(again, reply.header().zxid());
                }
            });
        }
        ping(connections);
        watchSilence(connections);
        lock.reconnected();
    }

    private void sessionGone() {
        sessionId = 0;
        password = new byte[16];
        lock.lost();
        watches.clear();
    }

    private void answered(JuteReader in) {
        ReplyHeader header = ReplyHeader.decode(in);
        if (header.xid() == Xid.WATCH_EVENT) {
            WatcherEvent event = WatcherEvent.decode(in);
            world.trace.event("event", id, header.zxid(), event);
            watches.told(header.zxid(), event);
            return;
        }
        if (header.xid() == Xid.PING) {
            seen(header.zxid());
            keptAlive(pingsSentUs.remove());
            return;
        }
        Request request = pending.remove();
        checks.require(
                request.xid == header.xid(), () -> this + " is answered " + header + " to request " + request.xid);
        ReplyBody body = header.err() == 0 ? ReplyBody.decode(request.body.opCode(), in) : null;
        world.trace.event("answer", id, header.zxid(), header);
        answers++;
        seen(header.zxid());
        Reply reply = new Reply(header, body);
        if (checks.check(this, request, reply)) {
            keptAlive(request.sentUs);
        }
        if (request.outcome != null) {
            request.outcome.of(reply);
        }
    }

    /** What a session is shown never gets older, and events come before what they are about. */
    private void seen(long zxid) {
        checks.require(
                zxid >= lastZxid,
                () -> this + " is shown 0x" + Long.toHexString(zxid) + " after 0x" + Long.toHexString(lastZxid));
        world.truth.stateAt(zxid);
        lastZxid = zxid;
        watches.shown(zxid);
        world.seen(zxid);
    }

    /** Its session lives on for its timeout, counted from when the request was sent. */
    private void keptAlive(long sentUs) {
        Truth.Session session = session();
        if (session == null) {
            return;
        }
        if (time.nowUs() >= session.safeUntilUs()) {
            lock.lost();
        }
        session.answeredSentUs = Math.max(session.answeredSentUs, sentUs);
        world.truth.checkNotTooEarly(session);
    }

    @Override
    public String toString() {
        return "client " + id + " (session 0x" + Long.toHexString(sessionId) + ")";
    }
}
