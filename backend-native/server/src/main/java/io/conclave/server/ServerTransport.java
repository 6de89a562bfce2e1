package io.conclave.server;

import io.conclave.protocol.LocalBuffers;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.SocketAddress;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** A kind of channel with the event loops that serve it. */
@SuppressWarnings("deprecation") // Netty 4.1 has no other event loops, and 4.2 keeps these
final class ServerTransport {
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(256 * 1024, 1024 * 1024);

    static final int BACKLOG = 1024;

    private final EventLoopGroup group;
    private final Class<? extends ServerChannel> serverChannel;
    private final boolean sockets;

    private ServerTransport(EventLoopGroup group, Class<? extends ServerChannel> serverChannel, boolean sockets) {
        this.group = group;
        this.serverChannel = serverChannel;
        this.sockets = sockets;
    }

    /** TCP, through the kernel's epoll where Netty's native part is there. */
    static ServerTransport tcp(int loops) {
        return Epoll.isAvailable()
                ? new ServerTransport(new EpollEventLoopGroup(loops, threads()), EpollServerSocketChannel.class, true)
                : new ServerTransport(new NioEventLoopGroup(loops, threads()), NioServerSocketChannel.class, true);
    }

    /** Queues inside the JVM. */
    static ServerTransport local(int loops) {
        return new ServerTransport(new DefaultEventLoopGroup(loops, threads()), LocalServerChannel.class, false);
    }

    private static ThreadFactory threads() {
        return new DefaultThreadFactory("conclave-server", true);
    }

    EventLoopGroup group() {
        return group;
    }

    /**
     * Listens. Blocks until it does.
     *
     * @throws ServerStartException if the address is taken or not ours
     */
    Channel listen(SocketAddress address, ChannelHandler childHandler) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(serverChannel)
                .childHandler(childHandler)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
        if (sockets) {
            bootstrap
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childOption(ChannelOption.TCP_NODELAY, true);
        } else {
            bootstrap.childOption(ChannelOption.ALLOCATOR, LocalBuffers.HEAP);
        }
        ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new ServerStartException("cannot listen on " + address + ": " + bound.cause(), bound.cause());
        }
        return bound.channel();
    }

    /** Ends the event loops. Blocks for two seconds at most. */
    void close() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
