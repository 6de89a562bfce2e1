package io.conclave.connection;

import io.conclave.consensus.HostNetwork;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WireRecord;
import io.conclave.time.TimeSource;
import io.conclave.tree.AuthId;
import io.conclave.tree.Caller;
import io.conclave.tree.PermissionBits;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client as the server knows it: its session, what it has proved, what it is sent, and the end of its connection.
 * What it sends is read by the {@link ConnectionReader}, of which this knows no more than how to wake it. Belongs to
 * the connection's loop.
 */
final class ClientConnection implements WatchTable.Watcher {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    private static final Duration LINGER = Duration.ofSeconds(5);
    /** For a client that was sent the end of the stream. */
    private static final Duration SHORT_LINGER = Duration.ofMillis(500);

    private final Channel channel;
    private final Loop loop;
    private final ConnectionServices services;
    private final Runnable onResumed;
    private final Runnable onLeft;
    private final ConnectionOutput output;
    private final WatchedPaths watched;
    private final ConnectionStatistics statistics;

    private @Nullable String network;
    private ConnectionState state = ConnectionState.HANDSHAKE;
    private List<AuthId> authIds;

    /** What it may be told of the last change; not kept behind that, for it knows lists that may be gone by then. */
    private WeakReference<Caller> eventReader = new WeakReference<>(null);

    private long readerZxid;
    private long sessionId;
    private long attachment;
    private int sessionTimeoutMs;
    private SessionLeases.@Nullable Lease lease;
    private boolean readOnly;
    private boolean finishing;

    /**
     * A connection without a session.
     *
     * @param onResumed goes on after something that held the connection up; does not throw
     * @param onLeft nothing more is read and no request answered from here on; called once
     */
    ClientConnection(
            Channel channel,
            Loop loop,
            ConnectionServices services,
            List<AuthId> authIds,
            Runnable onResumed,
            Runnable onLeft) {
        this.channel = channel;
        this.loop = loop;
        this.services = services;
        this.authIds = authIds;
        this.onResumed = onResumed;
        this.onLeft = onLeft;
        this.output = new ConnectionOutput(
                channel, loop::post, services.unread().client(this, () -> loop.post(this::closeIfCut)));
        this.watched = new WatchedPaths(services.guard());
        this.statistics =
                new ConnectionStatistics(loop.counters(), services.time().wallMillis());
    }

    Loop loop() {
        return loop;
    }

    ConnectionStatistics statistics() {
        return statistics;
    }

    // ---- who it is

    /** Where the client is; null inside the JVM. From any thread. */
    @Nullable
    InetAddress address() {
        return channel.remoteAddress() instanceof InetSocketAddress socket ? socket.getAddress() : null;
    }

    /** In whose lines it waits: its address, or the network of IPv6 that counts as one; empty inside the JVM. */
    String network() {
        String known = network;
        if (known == null) {
            InetAddress address = address();
            known = address == null ? "" : HostNetwork.of(address).getHostAddress();
            network = known;
        }
        return known;
    }

    long sessionId() {
        return sessionId;
    }

    long attachment() {
        return attachment;
    }

    int sessionTimeoutMs() {
        return sessionTimeoutMs;
    }

    List<AuthId> authIds() {
        return authIds;
    }

    void authIds(List<AuthId> proved) {
        authIds = List.copyOf(proved);
        eventReader.clear();
    }

    Audit.Client auditedAs() {
        return new Audit.Client(sessionId, address(), authIds);
    }

    ConnectionReport report() {
        SocketAddress remote = channel.remoteAddress();
        int timeoutMs =
                loop.state().session(sessionId).map(SessionRecord::timeoutMs).orElse(0);
        return statistics.report(
                new ConnectionReport.Client(remote == null ? "" : remote.toString(), isOpen(), sessionId, timeoutMs));
    }

    // ---- its session

    ConnectionState state() {
        return state;
    }

    /** Whether it has a session, and its requests are answered. */
    boolean isOpen() {
        return state == ConnectionState.OPEN;
    }

    boolean isGone() {
        return state == ConnectionState.CLOSED || state == ConnectionState.ENDING;
    }

    boolean isReadOnly() {
        return readOnly;
    }

    void attaching() {
        become(ConnectionState.ATTACHING);
    }

    void attached(SessionRecord session) {
        sessionId = session.id();
        attachment = session.attachment();
        sessionTimeoutMs = session.timeoutMs();
        lease = services.leases().of(sessionId);
        loop.connections().attach(sessionId, this);
        become(ConnectionState.OPEN);
    }

    /** Serves reads to a client whose session the log is not asked about. */
    void attachedReadOnly(long claimedSessionId) {
        readOnly = true;
        sessionId = claimedSessionId;
        lease = () -> true;
        become(ConnectionState.OPEN);
    }

    /** The client is there; false if that comes too late. */
    boolean touchLease() {
        SessionLeases.Lease current = lease;
        return current != null && current.touch();
    }

    /** Goes on after something that held it up. Does not throw. */
    void resume() {
        onResumed.run();
    }

    // ---- what it is sent

    @Override
    public WatchedPaths watched() {
        return watched;
    }

    /** An event that is for nobody else. */
    void tell(TreeEvent event) {
        SharedEvent alone = new SharedEvent(event, 1);
        try {
            tell(alone);
        } finally {
            alone.release();
        }
    }

    /** The event, if the client may read the node. Must not throw: others wait behind it for the same event. */
    @Override
    public void tell(SharedEvent event) {
        try {
            if (!mayRead(event.event())) {
                return;
            }
            if (!output.isHolding()) {
                send(event);
            } else {
                output.hold(event.event());
                closeIfCut();
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** One change can have very many events. */
    private boolean mayRead(TreeEvent event) {
        if (event.acl().equals(ZnodeAcl.OPEN)) {
            return true;
        }
        Caller reader = eventReader.get();
        if (reader == null || event.zxid() != readerZxid) {
            reader = new Caller(authIds);
            eventReader = new WeakReference<>(reader);
            readerZxid = event.zxid();
        }
        return reader.may(event.acl(), PermissionBits.READ);
    }

    private void send(SharedEvent event) {
        if (!isGone()) {
            output.write(event);
            written();
        }
    }

    /** From here on, until {@link #releaseEvents}, the client sees the state that the loop shows now. */
    void holdEvents() {
        output.beginHolding(loop.state().lastZxid());
    }

    /** The answer that was made from that state has been written. */
    void releaseEvents() {
        output.endHolding().forEach(event -> send(new SharedEvent(event, 1)));
    }

    void reply(int xid, WireRecord body) {
        write(new ReplyHeader(xid, shownZxid(), ErrorCode.OK.code()), body);
    }

    /** An answer that is made part by part. */
    LongAnswer beginAnswer() {
        return new LongAnswer(channel.alloc());
    }

    /**
     * Room for an answer that is made part by part.
     *
     * @param goOn goes on after it had to wait for that; on the loop
     */
    UnreadBytes.Answer roomForAnswer(Runnable goOn) {
        return services.unread().answer(() -> loop.post(goOn));
    }

    /** Closes if its client may not have an answer of so many bytes. */
    void closeIfTooLong(long bytes) {
        LimitGuard guard = services.guard();
        if (!isGone() && !guard.allows(ClientLimit.UNREAD_BYTES_OF_CONNECTION, bytes)) {
            guard.refused(
                    ClientLimit.UNREAD_BYTES_OF_CONNECTION, "to keep " + this + ": its answer has " + bytes + " bytes");
            close("its answer is too long");
        }
    }

    /**
     * Replies with an answer that was made part by part.
     *
     * @param head what stands before it
     */
    void reply(int xid, WireRecord head, LongAnswer rest) {
        if (isGone()) {
            rest.release();
            return;
        }
        ReplyHeader header = new ReplyHeader(xid, shownZxid(), ErrorCode.OK.code());
        output.write(header, head, rest);
        written(header);
    }

    void replyError(int xid, int errorCode) {
        write(new ReplyHeader(xid, shownZxid(), errorCode), ReplyBody.Empty.INSTANCE);
    }

    /**
     * Answers what is not about the tree, without a zxid: a client that takes the zxid of such an answer for what it
     * has seen would not be told of changes that it missed before it sets its watches again.
     */
    void replyOutsideState(int xid, ErrorCode error) {
        write(new ReplyHeader(xid, 0, error.code()), ReplyBody.Empty.INSTANCE);
    }

    /** Up to which change the client has seen all that it is to see. */
    private long shownZxid() {
        return output.shownZxid(loop.state().lastZxid());
    }

    void write(WireRecord header, WireRecord body) {
        if (isGone()) {
            return;
        }
        output.write(header, body);
        written(header);
    }

    private void written(WireRecord header) {
        if (header instanceof ReplyHeader reply) {
            statistics.replied(reply.zxid(), services.time().wallMillis());
        }
        written();
    }

    private void written() {
        statistics.sent();
        if (!closeIfCut()) {
            loop.connections().flushLater(this);
        }
    }

    /** Writes what is no frame, to a client that has no session. */
    void writeText(byte[] text) {
        if (!isGone()) {
            output.writeText(text);
        }
    }

    /** Whether it is closed, since its client reads too little of what it is sent. */
    private boolean closeIfCut() {
        if (output.isCut()) {
            close("its client reads too slowly");
        }
        return output.isCut();
    }

    /** How many bytes the client has taken, give or take a constant while it has answers to take. */
    long takenBytes() {
        return output.takenBytes();
    }

    /** Whether the client has much to read; not once it is sent no more. */
    boolean isFull() {
        return output.isFull();
    }

    void flushOutput() {
        if (state != ConnectionState.CLOSED) {
            output.flush();
            closeIfCut();
        }
    }

    // ---- its end

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

    /** The session has been closed: if its client asked for that, the reply still goes out. */
    void sessionEnded() {
        if (state == ConnectionState.OPEN) {
            close("its session has ended");
        }
    }

    /** This server is about to stop: a client that has no session yet gets none here. */
    void refuseNewcomer() {
        if (state == ConnectionState.HANDSHAKE || state == ConnectionState.ATTACHING) {
            close("this server is about to stop");
        }
    }

    /** Whether nothing more is read, and it closes when what was read is answered. */
    boolean isFinishing() {
        return finishing;
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
    void endStream() {
        lastOutput(SHORT_LINGER).addListener(written -> {
            if (channel instanceof DuplexChannel socket && written.isSuccess()) {
                endOfTls().addListener(sent -> socket.shutdownOutput());
            } else {
                channel.close();
            }
        });
    }

    /** The end of what TLS sends, if the channel has TLS; else done when the write before is. */
    private ChannelFuture endOfTls() {
        SslHandler handler = channel.pipeline().get(SslHandler.class);
        return handler == null ? channel.newSucceededFuture() : handler.closeOutbound();
    }

    private ChannelFuture lastOutput(Duration linger) {
        become(ConnectionState.ENDING);
        output.flush();
        ChannelFuture written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
        leave();
        TimeSource.Timer patience = services.time()
                .schedule(linger, () -> loop.post(() -> close("its client does not read the last answer")));
        channel.closeFuture().addListener(closed -> patience.cancel()); // else it keeps all of this in memory
        return written;
    }

    /** Closes at once, since this server has an error. */
    void fail(Throwable cause) {
        services.guard().failed(this, cause);
        close("an error of the server");
    }

    /** Closes at once; what has not been sent is dropped. Idempotent. */
    void close(String reason) {
        if (state == ConnectionState.CLOSED) {
            return;
        }
        LOG.debug("Connection {} closes: {}", this, reason);
        boolean left = state == ConnectionState.ENDING;
        become(ConnectionState.CLOSED);
        output.release();
        if (!left) {
            leave();
        }
        closeChannel();
    }

    /** Without the end of TLS if that would have to wait behind what the client does not read. */
    private void closeChannel() {
        ChannelHandlerContext tls = channel.pipeline().context(SslHandler.class);
        if (tls != null && output.isPending()) {
            tls.close(); // those before it
        } else {
            channel.close();
        }
    }

    private void leave() {
        onLeft.run();
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
