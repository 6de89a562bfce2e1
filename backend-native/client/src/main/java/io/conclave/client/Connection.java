package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.ReceivedBytes;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.conclave.spi.Elapsed;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to one server: how it opens, what it sends and receives, and how it ends. Owned by the session's event
 * loop; the exchanges interpret the answers.
 */
final class Connection extends ChannelInboundHandlerAdapter {
    /** Lists of children grow beyond what a request may have; a server that sends more than this is broken. */
    static final int MAX_REPLY_BYTES = 64 * 1024 * 1024;

    /** A ConnectResponse has 41 bytes. Before it nothing is known of a server, so it is not to have memory here. */
    private static final int MAX_GREETING_BYTES = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private final ConnectionOwner owner;
    private final ServerReports reports;
    private final SessionParts session;
    private final String server;
    private final RequestsInFlight inFlight;
    private final PingsInFlight pings;
    private @Nullable Channel channel; // once there is one, also before this connection can use it
    private @Nullable RequestOutput output; // once it is open
    private @Nullable ReceivedBytes received;
    private boolean reading;
    private @Nullable Elapsed openSince;
    private boolean greeted;
    private boolean shut;
    private @Nullable Throwable failure; // the exception behind it, if there was one
    private String awaitedStep = "";
    private String doubt = "it wants TLS on this port";
    private boolean leaving;

    /**
     * A connection that is not open yet.
     *
     * @param reports takes what the server says out of turn
     * @param server its name in messages
     */
    Connection(ConnectionOwner owner, ServerReports reports, SessionParts session, String server) {
        this.owner = owner;
        this.reports = reports;
        this.session = session;
        this.server = server;
        this.inFlight = new RequestsInFlight(session.ticket());
        this.pings = new PingsInFlight(inFlight, session.clock());
    }

    /** Whether it has failed or was given up: it will not be used. */
    boolean isShut() {
        return shut;
    }

    /** The server, as messages name it. */
    String server() {
        return server;
    }

    /** The host of the server, as it is named in the connect string. */
    String host() {
        int colon = server.lastIndexOf(':');
        String host = colon < 0 ? server : server.substring(0, colon);
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** The pings sent and not yet answered. */
    PingsInFlight pings() {
        return pings;
    }

    /** When the first answer of the server arrived; null before. */
    @Nullable
    Elapsed openSince() {
        return openSince;
    }

    /** The requests sent and not yet answered, oldest first. */
    Iterable<Exchange> inFlight() {
        return inFlight;
    }

    /**
     * Fails the requests that are in flight.
     *
     * @param reason makes the failure of a request by its description
     */
    void failInFlight(Function<String, ConclaveException> reason) {
        inFlight.fail(reason);
    }

    /** Ends the requests that are in flight, because the connection has gone. */
    void loseInFlight(String reason) {
        inFlight.lose(reason);
    }

    // ---- leaving

    /** Sends no more requests, and tells the session when all sent requests are answered. */
    void leave() {
        leaving = true;
        leaveIfAnswered();
    }

    /** The session ends on this connection after all: requests may be sent again. */
    void stay() {
        leaving = false;
    }

    /** Whether everything that was sent was answered, and nothing will be sent. */
    boolean isLeft() {
        return leaving && inFlight.isEmpty();
    }

    private void leaveIfAnswered() {
        if (isLeft() && !shut) {
            owner.onLeft(this);
        }
    }

    // ---- opening

    /**
     * The channel is there, and something else has to happen first.
     *
     * @param step what a message says if it does not happen
     */
    void opening(Channel opening, String step) {
        channel = opening;
        awaitedStep = step;
        doubt = "it refuses this client's certificate, or that there is none";
        if (shut) {
            opening.close();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        output = new RequestOutput(ctx);
        channel = ctx.channel();
        awaitedStep = "";
        if (shut) {
            ctx.close();
        } else {
            owner.onOpen(this);
        }
        super.channelActive(ctx);
    }

    /** No connection could be made. */
    void connectFailed(Throwable cause) {
        fail("cannot connect: " + cause.getMessage(), cause);
    }

    /** Ends it for a reason that an exception has. */
    void fail(String reason, Throwable cause) {
        if (!shut) {
            failure = cause;
            shut(reason);
        }
    }

    /** Its time to open is over. */
    void openingTakesTooLong(String bound) {
        shut("no answer within " + bound + (awaitedStep.isEmpty() ? "" : ": " + awaitedStep));
    }

    /** Why no connection was made, for callers that wait for one. */
    IOException failure(String reason) {
        return new IOException(this + ": " + reason, failure);
    }

    /** Sends the handshake. */
    void greet(ConnectRequest request) {
        output().greet(request);
        flush();
    }

    // ---- sending

    /** Whether the socket takes more output now. */
    boolean mayWrite() {
        RequestOutput open = output;
        return greeted && !shut && !leaving && open != null && open.isWritable();
    }

    /** Encodes a request and adds it to those in flight; the caller flushes. */
    void send(Exchange exchange) {
        Optional<RequestBody> body = exchange.body();
        if (body.isPresent()) {
            output().request(exchange, body.get());
        }
        inFlight.add(exchange);
    }

    /** Encodes a request that is answered out of order; the caller flushes. */
    void sendSpecial(int xid, RequestBody body) {
        output().special(xid, body);
    }

    /** Sends a ping at once. */
    void ping(Elapsed now) {
        pings.add(now);
        sendSpecial(Xid.PING, ConnectionRequest.Empty.PING);
        flush();
    }

    /** Hands everything that was encoded to the socket. */
    void flush() {
        RequestOutput open = output;
        if (open != null) {
            open.flush();
        }
    }

    private RequestOutput output() {
        RequestOutput open = output;
        if (open == null) {
            throw new IllegalStateException(this + " is not open yet");
        }
        return open;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        if (ctx.channel().isWritable() && !shut) {
            owner.onWritable();
        }
        super.channelWritabilityChanged(ctx);
    }

    // ---- receiving

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        received = new ReceivedBytes(ctx.alloc());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (!reading) {
            releaseReceived();
        }
    }

    private void releaseReceived() {
        ReceivedBytes bytes = received;
        received = null;
        if (bytes != null) {
            bytes.release();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        session.deliveries().gather();
        ByteBuf more = (ByteBuf) message;
        ReceivedBytes bytes = received;
        if (bytes == null || shut) {
            more.release();
            return;
        }
        pings.onArrival();
        bytes.add(more);
        // A frame may make the session close the channel, which removes this handler while the frame is read.
        reading = true;
        try {
            handleFrames(bytes);
        } finally {
            reading = false;
            if (shut || ctx.isRemoved()) {
                releaseReceived();
            }
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        super.channelReadComplete(ctx);
        owner.onReadComplete();
    }

    private void handleFrames(ReceivedBytes bytes) {
        try {
            Optional<ByteBuf> frame = nextFrame(bytes);
            while (frame.isPresent()) {
                onFrame(frame.get());
                frame = nextFrame(bytes);
            }
        } catch (MalformedFrameException e) {
            LOG.warn("{}: the server broke the protocol: {}", this, e.getMessage());
            shut("the server broke the protocol: " + e.getMessage());
        }
    }

    private Optional<ByteBuf> nextFrame(ReceivedBytes bytes) {
        return shut ? Optional.empty() : bytes.nextFrame(greeted ? MAX_REPLY_BYTES : MAX_GREETING_BYTES);
    }

    private void onFrame(ByteBuf frame) {
        JuteReader in = new JuteReader(frame);
        if (!greeted) {
            ConnectResponse response = ConnectResponse.decode(in);
            greeted = true;
            openSince = session.clock().mark();
            owner.onGreeted(this, response);
            return;
        }
        ReplyHeader header = ReplyHeader.decode(in);
        switch (header.xid()) {
            case Xid.WATCH_EVENT -> {
                pings.onEvent();
                reports.onEvent(this, header, WatcherEvent.decode(in));
            }
            case Xid.PING -> pings.answered();
            case Xid.AUTH -> reports.onAuthenticated(header.err());
            case Xid.SET_WATCHES -> reports.onWatchesSet(this, header.err());
            default -> {
                inFlight.answer(header, in);
                leaveIfAnswered();
            }
        }
    }

    // ---- ending

    /** Ends the connection and tells the session, once. */
    void shut(String reason) {
        if (shut) {
            return;
        }
        shut = true;
        RequestOutput unsent = output;
        if (unsent != null) {
            unsent.release();
        }
        Channel open = channel;
        if (open != null) {
            open.close();
        }
        owner.onShut(this, reason);
        // The channel may not report the end of this read, so gathered tasks are handed over here.
        session.deliveries().flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        shut(
                greeted
                        ? "the server closed the connection"
                        : "the server closed the connection before it answered: it does not serve now, or " + doubt);
        super.channelInactive(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("{}: {}", this, cause.toString());
        } else {
            LOG.error("{}: unexpected failure, the connection is dropped", this, cause);
        }
        fail(cause.toString(), cause);
    }

    @Override
    public String toString() {
        return "connection to " + server;
    }
}
