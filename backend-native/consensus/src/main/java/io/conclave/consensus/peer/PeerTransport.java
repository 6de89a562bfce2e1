package io.conclave.consensus.peer;

import io.conclave.consensus.LogException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** One event loop, and sockets on it: through the kernel's epoll where Netty's native part is there. */
@SuppressWarnings("deprecation") // Netty 4.1 has no other event loops, and 4.2 keeps these
final class PeerTransport {
    private static final int CLOSE_MS = 2_000;

    private final EventLoopGroup group;
    private final Class<? extends ServerChannel> serverChannel;
    private final Class<? extends Channel> clientChannel;
    private final int connectTimeoutMs;

    PeerTransport(PeerOptions options) {
        boolean epoll = options.nativeTransport() && Epoll.isAvailable();
        group = epoll
                ? new EpollEventLoopGroup(1, options.threadFactory())
                : new NioEventLoopGroup(1, options.threadFactory());
        serverChannel = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        clientChannel = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
        connectTimeoutMs = options.electionTimeoutMs();
    }

    EventLoop loop() {
        return group.next();
    }

    /**
     * Listens. Blocks until it does.
     *
     * @throws LogException if the address is taken or not ours
     */
    Channel listen(InetSocketAddress address, ChannelHandler childHandler) {
        InetSocketAddress resolved =
                address.isUnresolved() ? new InetSocketAddress(address.getHostString(), address.getPort()) : address;
        ChannelFuture bound = new ServerBootstrap()
                .group(group)
                .channel(serverChannel)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.SO_BACKLOG, 256)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(childHandler)
                .bind(resolved)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new LogException(
                    "cannot listen for other members on " + address + ": " + bound.cause(), bound.cause());
        }
        return bound.channel();
    }

    ChannelFuture connect(InetSocketAddress address, ChannelHandler handler) {
        return new Bootstrap()
                .group(group)
                .channel(clientChannel)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeoutMs)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteBufferWaterMark.DEFAULT)
                .disableResolver()
                .handler(handler)
                .connect(address);
    }

    /** Ends the event loop. Blocks for two seconds at most. */
    void close() {
        group.shutdownGracefully(0, CLOSE_MS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(CLOSE_MS, TimeUnit.MILLISECONDS);
    }
}
