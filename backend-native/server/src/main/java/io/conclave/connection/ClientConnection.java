package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReceivedBytes;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WireRecord;
import io.conclave.protocol.Xid;
import io.conclave.tree.AuthId;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeEvent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection: bytes in, bytes out, and its state. Frames go to the {@link ClientHandshake} first, then to
 * the {@link RequestDispatch}. Reading stops while the client does not take its answers, has too much in flight, or the
 * log takes nothing. Belongs to its event loop.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter implements WatchTable.Watcher, LogOffers.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    /** A ConnectRequest has 45 bytes; this leaves room for those of other clients. */
    private static final int MAX_HANDSHAKE_BYTES = 4096;

    /** How long the loop works for one connection while others may wait. */
    private static final long TURN_NANOS = Duration.ofMillis(2).toNanos();

    private static final Duration LINGER = Duration.ofSeconds(5);
    /** For a client that was sent the end of the stream. */
    private static final Duration SHORT_LINGER = Duration.ofMillis(500);

    private final Channel channel;
    private final Loop loop;
    private final ConnectionServices services;
    private final ReceivedBytes received;
    private final ConnectionOutput output;
    private final RequestIntake intake;
    private final RequestPipeline pipeline;
    private final LogOffers offers;
    private final CommandAnswer command;
    private final ClientHandshake handshake;
    private final RequestDispatch dispatch;
    private final RequestHolds holds;
    private final WatchedPaths watched;
    private final ConnectionEvents events;
    private final LeaseKeeper leaseKeeper;

    private ConnectionState state = ConnectionState.HANDSHAKE;
    private List<AuthId> authIds;
    private long sessionId;
    private long attachment;
    private int sessionTimeoutMs;
    private final ConnectionStatistics statistics;
    private boolean greeted;
    private boolean readOnly;
    private boolean handling;
    private boolean finishing;

    ClientConnection(Channel channel, Loop loop, ConnectionServices services, List<AuthId> authIds) {
        this.channel = channel;
        this.loop = loop;
        this.services = services;
        this.authIds = authIds;
        this.statistics =
                new ConnectionStatistics(loop.counters(), services.time().wallMillis());
        this.received = new ReceivedBytes(channel.alloc());
        this.output = new ConnectionOutput(channel);
        this.offers = new LogOffers(this, loop);
        this.command = new CommandAnswer(this, channel, services.commandWords());
        this.watched = new WatchedPaths(services.guard());
        this.events = new ConnectionEvents(this, services.limits().maxOutputBytes());
        this.handshake = new ClientHandshake(this, services);
        this.intake = new RequestIntake(this, services.guard(), services.largeRequests());
        this.pipeline = new RequestPipeline(this, loop.counters(), intake);
        this.dispatch = new RequestDispatch(this, pipeline, services);
        this.holds = new RequestHolds(offers, intake, pipeline, dispatch, services.guard());
        this.leaseKeeper = new LeaseKeeper(services.time(), loop::post, this::isHeldUp, dispatch::touchLease);
    }

    Loop loop() {
        return loop;
    }

    /** Where the client is; null inside the JVM. From any thread. */
    @Nullable
    InetAddress address() {
        return channel.remoteAddress() instanceof InetSocketAddress socket ? socket.getAddress() : null;
    }

    long sessionId() {
        return sessionId;
    }

    long attachment() {
        return attachment;
    }

    List<AuthId> authIds() {
        return authIds;
    }

    Audit.Client auditedAs() {
        return new Audit.Client(sessionId, address(), authIds);
    }

    void authIds(List<AuthId> proved) {
        authIds = List.copyOf(proved);
    }

    @Override
    public boolean isGone() {
        return state == ConnectionState.CLOSED || state == ConnectionState.ENDING;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        loop.connections().opened(this);
        handshake.startDeadline();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (isGone()) {
            bytes.release();
            return;
        }
        loop.turns().begin();
        try {
            received.add(bytes);
            loop.catchUp();
            handleFrames();
        } finally {
            loop.turns().end();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        loop.turns().begin();
        try {
            loop.flush();
        } finally {
            loop.turns().end();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (channel.isWritable()) {
            resume();
            loop.flush();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close("the client has closed it");
    }

    /**
     * The client sends nothing more. A client that sends a four-letter word often says so before the answer is there,
     * as ZooKeeper's own tools do; from any other it is the end.
     */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        boolean isEnd = event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent;
        if (isEnd && !command.isBegun()) {
            close("the client has closed it");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            close(cause.toString());
        } else {
            LOG.error("Connection {} failed", this, cause);
            close("an error of the server");
        }
    }

    private void handleFrames() {
        if (handling) {
            return;
        }
        handling = true;
        boolean hasHandledAll = false;
        try {
            if (state == ConnectionState.HANDSHAKE && !greeted) {
                command.answerIfWord(received);
            }
            long sinceNanos = services.time().monotonicNanos();
            while (wantsFrame()) {
                if (state == ConnectionState.OPEN && !intake.begins(received)) {
                    break;
                }
                int most = state == ConnectionState.HANDSHAKE ? MAX_HANDSHAKE_BYTES : Frames.DEFAULT_MAX_PAYLOAD_BYTES;
                Optional<ByteBuf> frame = received.nextFrame(most);
                if (frame.isEmpty()) {
                    hasHandledAll = true;
                    break;
                }
                handle(frame.get());
                if (services.time().monotonicNanos() - sinceNanos > TURN_NANOS && state == ConnectionState.OPEN) {
                    holds.yieldTurn(services.time(), loop, this::resume);
                }
            }
        } catch (MalformedFrameException e) {
            close(e.toString());
        } finally {
            handling = false;
        }
        if (finishing && hasHandledAll && pipeline.isEmpty() && !isGone()) {
            endStream();
        }
        setReading();
    }

    /** A write was answered that came in at that time. */
    void written(long sinceNanos) {
        statistics.written(services.time().monotonicNanos() - sinceNanos);
    }

    private void counted() {
        greeted = true;
        statistics.received();
    }

    /** The client wants an answer to a four-letter word, and nothing else. */
    void commanded() {
        counted();
        attaching();
    }

    /** A request was decoded. */
    void requested(OpCode opCode, int xid) {
        statistics.requested(opCode, xid);
    }

    void resetStatistics() {
        statistics.reset();
    }

    ConnectionReport report() {
        SocketAddress remote = channel.remoteAddress();
        int timeoutMs =
                loop.state().session(sessionId).map(SessionRecord::timeoutMs).orElse(0);
        return statistics.report(
                new ConnectionReport.Client(
                        remote == null ? "" : remote.toString(), state == ConnectionState.OPEN, sessionId, timeoutMs),
                pipeline.size());
    }

    private void handle(ByteBuf frame) {
        counted();
        if (state == ConnectionState.HANDSHAKE) {
            handshake.handle(frame);
        } else {
            try {
                dispatch.handle(frame);
            } finally {
                handled();
            }
        }
    }

    /** A request was handled, or answered; one that is done part by part keeps its room until it is done. */
    void handled() {
        if (!dispatch.isPartlyDone()) {
            intake.handled();
        }
    }

    private boolean wantsFrame() {
        return switch (state) {
            case HANDSHAKE -> true;
            case OPEN -> channel.isWritable() && !isHeldUp();
            case ATTACHING, ENDING, CLOSED -> false;
        };
    }

    /** Whether the next request of an open connection has to wait because of the server, and not because of its client. */
    private boolean isHeldUp() {
        return state == ConnectionState.OPEN && holds.any();
    }

    /** While attaching, the socket is read on, within a bound, so that a client that leaves is noticed. */
    private void setReading() {
        if (isHeldUp() && !readOnly) {
            leaseKeeper.keep(sessionTimeoutMs);
        }
        boolean reading = (wantsFrame() && !finishing)
                || isGone()
                || (state == ConnectionState.ATTACHING && received.size() < MAX_HANDSHAKE_BYTES);
        if (channel.config().isAutoRead() != reading) {
            channel.config().setAutoRead(reading);
            if (!reading && state == ConnectionState.OPEN) {
                holds.count();
            }
        }
    }

    /**
     * Goes on after something that held the connection up. Does not throw: no caller up there would close the
     * connection, and it would never see the end of the request that failed.
     */
    @Override
    public void resume() {
        try {
            if (state == ConnectionState.OPEN) {
                pipeline.advance();
            }
            if (!isGone()) {
                handleFrames();
            }
        } catch (RuntimeException | Error e) {
            LOG.error("Connection {} cannot go on", this, e);
            close("an error of the server");
        }
    }

    void settleBefore(PendingAnswer write) {
        pipeline.settleBefore(write);
    }

    /** Proposes it as soon as the log takes it. */
    void propose(ConnectionProposal proposal) {
        offers.propose(proposal);
    }

    /** Runs the action on the loop once that shows everything which was committed before this call. */
    void readBarrier(Runnable action) {
        offers.readBarrier(action);
    }

    /** A client that shook hands did so for another mode. */
    void serviceChanged(ServiceMode mode) {
        if (!isGone() && state != ConnectionState.HANDSHAKE) {
            close("what is served has changed to " + mode);
        }
    }

    /** What it has shown to its client, and what that watches, belong to a state that is no more. */
    void stateReplaced() {
        if (!isGone() && state != ConnectionState.HANDSHAKE) {
            close("a snapshot has replaced the state");
        }
    }

    boolean isReadOnly() {
        return readOnly;
    }

    /** Serves reads to a client whose session the log is not asked about. */
    void attachedReadOnly(long claimedSessionId) {
        readOnly = true;
        sessionId = claimedSessionId;
        dispatch.leased(() -> true);
        become(ConnectionState.OPEN);
    }

    void attaching() {
        become(ConnectionState.ATTACHING);
    }

    void attached(SessionRecord session) {
        sessionId = session.id();
        attachment = session.attachment();
        sessionTimeoutMs = session.timeoutMs();
        dispatch.leased(services.leases().of(sessionId));
        loop.connections().attach(sessionId, this);
        become(ConnectionState.OPEN);
    }

    /** The session has been closed: if its client asked for that, the reply still goes out. */
    void sessionEnded() {
        if (state == ConnectionState.OPEN) {
            close("its session has ended");
        }
    }

    @Override
    public WatchedPaths watched() {
        return watched;
    }

    /** Must not throw: others wait behind it for the same event. */
    @Override
    public void tell(TreeEvent event) {
        try {
            events.tell(event);
        } catch (RuntimeException | Error e) {
            LOG.error("Connection {} cannot be sent {}", this, event, e);
            close("an error of the server");
        }
    }

    ConnectionEvents events() {
        return events;
    }

    void reply(int xid, WireRecord body) {
        write(new ReplyHeader(xid, events.shownZxid(), ErrorCode.OK.code()), body);
    }

    void replyError(int xid, int errorCode) {
        write(new ReplyHeader(xid, events.shownZxid(), errorCode), ReplyBody.Empty.INSTANCE);
    }

    void write(WireRecord header, WireRecord body) {
        if (isGone()) {
            return;
        }
        output.write(header, body);
        statistics.sent();
        if (header instanceof ReplyHeader reply && reply.xid() != Xid.WATCH_EVENT) {
            statistics.replied(reply.zxid(), services.time().wallMillis());
        }
        if (output.backlogBytes() > services.limits().maxOutputBytes()) {
            LOG.warn("Connection {} is cut: {} bytes wait for its client to read them", this, output.backlogBytes());
            close("its client reads too slowly");
            return;
        }
        loop.connections().flushLater(this);
    }

    void flushOutput() {
        if (state != ConnectionState.CLOSED) {
            output.flush();
        }
    }

    /** This server is about to stop: a client that has no session yet gets none here. */
    void refuseNewcomer() {
        if (state == ConnectionState.HANDSHAKE || state == ConnectionState.ATTACHING) {
            close("this server is about to stop");
        }
    }

    /** Reads nothing more, answers what was read, and closes. */
    void finish() {
        if (state == ConnectionState.OPEN) {
            finishing = true;
            resume();
        } else {
            refuseNewcomer();
        }
    }

    /** Closes when what has been written is sent. */
    void closeAfterOutput() {
        if (isGone()) {
            return;
        }
        lastOutput(LINGER).addListener(ChannelFutureListener.CLOSE);
    }

    /**
     * Closes when the client does, which is sent the end of the stream behind the last answer: to close first, with
     * something unread, would have the kernel take answers back that the client has not read.
     */
    private void endStream() {
        lastOutput(SHORT_LINGER).addListener(written -> {
            if (channel instanceof DuplexChannel socket && written.isSuccess()) {
                TlsEntry.endOutput(channel).addListener(sent -> socket.shutdownOutput());
            } else {
                channel.close();
            }
        });
    }

    private ChannelFuture lastOutput(Duration linger) {
        become(ConnectionState.ENDING);
        output.flush();
        ChannelFuture written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
        leave();
        services.time().schedule(linger, () -> loop.post(() -> close("its client does not read the last answer")));
        return written;
    }

    /** Closes at once; what has not been sent is dropped. Idempotent. */
    @Override
    public void close(String reason) {
        if (state == ConnectionState.CLOSED) {
            return;
        }
        LOG.debug("Connection {} closes: {}", this, reason);
        boolean left = state == ConnectionState.ENDING;
        become(ConnectionState.CLOSED);
        output.release();
        received.release();
        if (!left) {
            leave();
        }
        channel.close();
    }

    private void leave() {
        handshake.cancelDeadline();
        pipeline.clear();
        loop.detach(this);
    }

    private void become(ConnectionState next) {
        if (!next.mayFollow(state)) {
            throw new IllegalStateException("a connection cannot go from " + state + " to " + next);
        }
        state = next;
    }

    @Override
    public String toString() {
        return channel.remoteAddress() + (sessionId == 0 ? "" : " (session 0x" + Long.toHexString(sessionId) + ")");
    }
}
