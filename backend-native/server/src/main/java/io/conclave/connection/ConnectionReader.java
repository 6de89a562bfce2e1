package io.conclave.connection;

import io.conclave.protocol.Frames;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.ReceivedBytes;
import io.conclave.tree.AuthId;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Reads what one client sends: the first frame goes to the {@link ClientHandshake}, those behind it to the
 * {@link RequestDispatch}. Reading stops while the client does not take its answers, has too much in flight, or the log
 * takes nothing. What these make of a request goes to the {@link ClientConnection}, which knows none of them. Belongs
 * to the connection's loop.
 */
final class ConnectionReader extends ChannelInboundHandlerAdapter {
    /** A ConnectRequest has 45 bytes; this leaves room for those of other clients. */
    private static final int MAX_HANDSHAKE_BYTES = 4096;

    /** How long the loop works for one connection while others may wait. */
    private static final long TURN_NANOS = Duration.ofMillis(2).toNanos();

    private final Channel channel;
    private final Loop loop;
    private final ConnectionServices services;
    private final ReceivedBytes received;
    private final ClientConnection connection;
    private final CommandAnswer command;
    private final ClientHandshake handshake;
    private final RequestArrival arrival;
    private final RequestIntake intake;
    private final RequestPipeline pipeline;
    private final RequestDispatch dispatch;
    private final RequestHolds holds;
    private final LeaseKeeper leaseKeeper;
    private final SlowClientLease slowClientLease;
    private boolean handling;

    ConnectionReader(Channel channel, Loop loop, ConnectionServices services, List<AuthId> authIds) {
        this.channel = channel;
        this.loop = loop;
        this.services = services;
        this.received = new ReceivedBytes(channel.alloc());
        this.connection = new ClientConnection(channel, loop, services, authIds, this::resume, this::leave);
        this.command = new CommandAnswer(connection, services.commandWords());
        LogOffers offers = new LogOffers(connection);
        this.handshake = new ClientHandshake(connection, offers, services);
        this.arrival =
                new RequestArrival(connection, received, services.arriving(), services.guard(), this::isHeldUpOnly);
        this.intake = new RequestIntake(connection, services.guard(), services.largeRequests());
        this.pipeline = new RequestPipeline(connection, intake);
        Pings pings = new Pings(connection, offers, services.leases());
        this.dispatch = new RequestDispatch(connection, pipeline, offers, pings, services);
        this.holds = new RequestHolds(offers, arrival, intake, pipeline, dispatch, pings, services.guard());
        this.leaseKeeper = new LeaseKeeper(services.time(), loop::post, this::isHeldUp, connection::touchLease);
        this.slowClientLease = new SlowClientLease(
                services.time(), loop::post, this::isSlow, connection::takenBytes, connection::touchLease);
    }

    ClientConnection connection() {
        return connection;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        loop.connections().opened(connection);
        handshake.startDeadline();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (connection.isGone()) {
            bytes.release();
            return;
        }
        loop.turns().begin();
        try {
            receive(bytes);
        } finally {
            loop.turns().end();
        }
    }

    /**
     * Catches up first: at each step of the walk this connection may go on with what it has received by then, and a
     * request that has just come must not be answered from a state before the last step.
     */
    private void receive(ByteBuf bytes) {
        loop.catchUp();
        if (connection.isGone()) {
            bytes.release();
            return;
        }
        received.add(bytes);
        handleFrames();
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
        } else {
            intake.giveWay();
        }
        setReading(); // with TLS also what is no request makes output
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        connection.close("the client has closed it");
    }

    /**
     * The client sends nothing more. A client that sends a four-letter word often says so before the answer is there,
     * as ZooKeeper's own tools do; from any other it is the end.
     */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        boolean isEnd = event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent;
        if (isEnd && !command.isBegun()) {
            connection.close("the client has closed it");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            connection.close(cause.toString());
        } else {
            connection.fail(cause);
        }
    }

    private void handleFrames() {
        if (handling) {
            return;
        }
        handling = true;
        if (connection.isFinishing()) {
            arrival.end(); // nothing more is read
        }
        boolean hasHandledAll = false;
        try {
            if (connection.state() == ConnectionState.HANDSHAKE) {
                command.answerIfWord(received);
            }
            hasHandledAll = handleReceived();
        } catch (MalformedFrameException e) {
            connection.close(e.toString());
        } finally {
            handling = false;
        }
        if (connection.isFinishing() && hasHandledAll && pipeline.isEmpty() && !connection.isGone()) {
            connection.endStream();
        }
        if (!channel.isWritable()) {
            intake.giveWay();
        }
        setReading();
    }

    /** Handles the frames that are there; whether no whole one is left. */
    private boolean handleReceived() {
        long sinceNanos = services.time().monotonicNanos();
        while (wantsFrame()) {
            if (connection.isOpen() && (holds.checkHeldBack(received) || !intake.tryBegin(received))) {
                return false;
            }
            Optional<ByteBuf> frame =
                    received.nextFrame(connection.isOpen() ? Frames.DEFAULT_MAX_PAYLOAD_BYTES : MAX_HANDSHAKE_BYTES);
            if (frame.isEmpty()) {
                if (connection.isOpen() && !connection.isFinishing()) {
                    arrival.awaitRest();
                }
                return true;
            }
            arrival.end();
            handle(frame.get());
            if (services.time().monotonicNanos() - sinceNanos > TURN_NANOS && connection.isOpen()) {
                holds.yieldTurn(services.time(), loop, this::resume);
            }
        }
        return false;
    }

    private void handle(ByteBuf frame) {
        connection.statistics().received();
        if (connection.state() == ConnectionState.HANDSHAKE) {
            handshake.handle(frame);
        } else {
            try {
                dispatch.handle(frame);
            } finally {
                pipeline.handled();
            }
        }
    }

    private boolean wantsFrame() {
        return switch (connection.state()) {
            case HANDSHAKE -> !command.isBegun();
            case OPEN -> channel.isWritable() && !isHeldUp();
            case ATTACHING, ENDING, CLOSED -> false;
        };
    }

    /**
     * Whether the next request of an open connection has to wait because of the server, and not because of its client.
     */
    private boolean isHeldUp() {
        return connection.isOpen() && holds.any();
    }

    private boolean isHeldUpOnly() {
        return isHeldUp() && !isSlow();
    }

    /** Whether the next request of an open connection has to wait until its client has taken more of its answers. */
    private boolean isSlow() {
        return connection.isOpen() && !channel.isWritable();
    }

    /**
     * While attaching, the socket is read on, within a bound, so that a client that leaves is noticed; and behind a
     * four-letter word, since to close with something unread would have the kernel take the answer back. A client that
     * does not take its answers is not read in any state: with TLS each of its messages may be answered by TLS itself.
     */
    private void setReading() {
        if (isHeldUp() && !connection.isReadOnly()) {
            leaseKeeper.keep(connection.sessionTimeoutMs());
        }
        if (isSlow() && !connection.isReadOnly()) {
            slowClientLease.keep(connection.sessionTimeoutMs());
        }
        boolean reading = !connection.isFull() && mayRead();
        if (channel.config().isAutoRead() != reading) {
            channel.config().setAutoRead(reading);
            if (!reading && connection.isOpen()) {
                holds.count();
            }
        }
    }

    private boolean mayRead() {
        return (wantsFrame() && !connection.isFinishing())
                || connection.isGone()
                || ((connection.state() == ConnectionState.ATTACHING || command.isBegun())
                        && received.size() < MAX_HANDSHAKE_BYTES);
    }

    /**
     * Goes on after something that held the connection up. Does not throw: no caller up there would close the
     * connection, and it would never see the end of the request that failed.
     */
    private void resume() {
        try {
            if (connection.isOpen()) {
                pipeline.advance();
            }
            if (!connection.isGone()) {
                handleFrames();
            }
        } catch (RuntimeException | Error e) {
            connection.fail(e);
        }
    }

    /** The connection ends: nothing more is read, and no request answered. */
    private void leave() {
        received.release();
        arrival.end();
        handshake.cancelDeadline();
        pipeline.clear();
        dispatch.end();
    }
}
