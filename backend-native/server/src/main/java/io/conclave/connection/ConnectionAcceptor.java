package io.conclave.connection;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.time.TimeSource;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Gives every accepted channel its {@link ConnectionReader}, within the bounds. Thread-safe. */
public final class ConnectionAcceptor {
    private final ConnectionServices services;
    private final Loops loops;
    private final ConnectionCounts counts;
    private final PortEntry entry;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /**
     * An acceptor for the channels of some event loops.
     *
     * @param log takes what the connections propose
     */
    public ConnectionAcceptor(EventLoopGroup group, ReplicatedLog log, TimeSource time, ConnectionServices services) {
        this.services = services;
        this.counts = new ConnectionCounts(services.limits());
        this.loops = new Loops(group, log, time, services);
        this.entry = new PortEntry(
                time, services.guard().halfOpen(), services.security().offersSchemes());
    }

    /** The loops that the channels are accepted on. */
    public Loops loops() {
        return loops;
    }

    /** The counts of connections and handshakes with TLS. From any thread, without blocking. */
    public TlsCounts tls() {
        return entry.counts();
    }

    /** The handler for the children of a server channel whose event loops are this acceptor's. */
    public ChannelHandler childHandler() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accept(channel);
            }
        };
    }

    /** As {@link #childHandler()}, for a TCP port, where clients may speak TLS. */
    public ChannelHandler childHandler(PortSecurity security) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                accept(channel).ifPresent(connection -> entry.guard(channel, connection, security));
            }
        };
    }

    /** Empty if it was refused. */
    private Optional<ClientConnection> accept(Channel channel) {
        InetAddress address = channel.remoteAddress() instanceof InetSocketAddress socket ? socket.getAddress() : null;
        if (!counts.enter(address)) {
            services.guard()
                    .connections()
                    .add(
                            address,
                            "there are too many from this address or its network (maxClientCnxns), or in all"
                                    + " (maxCnxns)");
            channel.close();
            return Optional.empty();
        }
        channel.closeFuture().addListener(closed -> counts.leave(address));
        channels.add(channel);
        ConnectionReader reader =
                new ConnectionReader(channel, loops.of(channel.eventLoop()), services, idsOf(address));
        channel.pipeline().addLast(reader);
        return Optional.of(reader.connection());
    }

    private static List<AuthId> idsOf(@Nullable InetAddress address) {
        return address == null ? List.of() : List.of(new AuthId(IdScheme.IP.word(), address.getHostAddress()));
    }

    /** How many connections there are now. */
    public int connectionCount() {
        return counts.total();
    }

    /**
     * Asks the clients that can to go to another server, while everything goes on being answered; takes in no new ones.
     *
     * @return completes on any thread when the clients that were asked have gone
     */
    public CompletionStage<@Nullable Void> sayGoodbye() {
        CompletableFuture<?>[] parts = loops.all().stream()
                .map(loop -> {
                    CompletableFuture<@Nullable Void> answered = new CompletableFuture<>();
                    loop.post(() -> loop.goodbye().say(answered));
                    return answered;
                })
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(parts);
    }

    /**
     * Reads nothing more from anybody, answers what was read, and closes.
     *
     * @return completes on any thread when all connections are closed
     */
    public CompletionStage<@Nullable Void> finish() {
        CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
        for (Loop loop : loops.all()) {
            loop.post(() -> loop.connections().forEach(ClientConnection::finish));
        }
        channels.newCloseFuture().addListener(all -> closed.complete(null));
        return closed;
    }

    /** Closes all connections; sessions stay. Blocks until they are closed; not to be called on an event loop. */
    public void closeAll() {
        beginClosing().awaitUninterruptibly();
    }

    /**
     * Has every event loop close its connections, all of them before anything else that it does; done when they are
     * closed. From any thread.
     */
    public Future<?> beginClosing() {
        loops.eventLoops().forEach(loop -> loop.execute(() -> closeThoseOf(loop)));
        return channels.close();
    }

    private void closeThoseOf(EventLoop loop) {
        for (Channel channel : channels) {
            if (channel.eventLoop() == loop) {
                channel.close();
            }
        }
    }
}
