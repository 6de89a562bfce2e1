package io.conclave.ensemble;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The proxy that one member dials to reach another. It passes bytes on, or holds them back as a network that loses
 * everything: neither end is told, connections stay, and the held bytes arrive when the cut is healed. All state
 * belongs to the event loop.
 */
final class LinkProxy {
    private final EventLoop loop;
    private final InetSocketAddress target;
    private final Channel listening;
    private final Set<Channel> channels = new HashSet<>();
    private final List<Runnable> heldConnections = new ArrayList<>();
    private boolean cut;

    LinkProxy(EventLoopGroup group, InetSocketAddress target) {
        this.loop = group.next();
        this.target = target;
        this.listening = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accept(channel);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    /** The address to dial in place of the target. */
    InetSocketAddress address() {
        return (InetSocketAddress) listening.localAddress();
    }

    /** Holds all bytes back from now on. */
    void cut() {
        run(() -> {
            cut = true;
            channels.forEach(channel -> channel.config().setAutoRead(false));
        });
    }

    /** Passes the held bytes on, and all later ones. */
    void heal() {
        run(() -> {
            cut = false;
            List.copyOf(channels).forEach(channel -> channel.config().setAutoRead(true));
            List<Runnable> held = List.copyOf(heldConnections);
            heldConnections.clear();
            held.forEach(Runnable::run);
        });
    }

    /** Breaks all connections, as the end of a process at one end does. */
    void breakConnections() {
        run(() -> List.copyOf(channels).forEach(Channel::close));
    }

    void close() {
        breakConnections();
        listening.close().syncUninterruptibly();
    }

    private void run(Runnable task) {
        loop.submit(task).syncUninterruptibly();
    }

    private void accept(Channel dialler) {
        add(dialler);
        if (cut) {
            heldConnections.add(() -> connect(dialler));
        } else {
            connect(dialler);
        }
    }

    private void add(Channel channel) {
        channels.add(channel);
        channel.closeFuture().addListener(closed -> channels.remove(channel));
    }

    private void connect(Channel dialler) {
        if (!dialler.isActive()) {
            return;
        }
        Passage back = new Passage(dialler);
        new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(back)
                .connect(target)
                .addListener((ChannelFutureListener) connected -> {
                    Channel other = connected.channel();
                    if (!connected.isSuccess() || !dialler.isActive()) {
                        other.close();
                        dialler.close();
                        return;
                    }
                    add(other);
                    dialler.pipeline().addLast(new Passage(other));
                    dialler.config().setAutoRead(!cut);
                    other.config().setAutoRead(!cut);
                });
    }

    /** Passes on the bytes of one end, and the end of its stream. */
    private static final class Passage extends ChannelInboundHandlerAdapter {
        private final Channel to;

        Passage(Channel to) {
            this.to = to;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            to.write((ByteBuf) message, to.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            to.flush();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            to.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, @Nullable Throwable cause) {
            context.close();
        }
    }
}
