package io.conclave.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalChannel;
import java.net.SocketAddress;

/** Connects to a server in this JVM, on event loops that it lends. */
final class LocalTransport implements Transport {
    private final SocketAddress address;
    private final EventLoopGroup loops;

    LocalTransport(SocketAddress address, EventLoopGroup loops) {
        this.address = address;
        this.loops = loops;
    }

    @Override
    public int serverCount() {
        return 1;
    }

    @Override
    public String describe(int server) {
        return address.toString();
    }

    @Override
    public EventLoop nextLoop() {
        return loops.next();
    }

    @Override
    public void connect(EventLoop loop, int server, Connection connection) {
        ChannelFuture future = new Bootstrap()
                .group(loop)
                .channel(LocalChannel.class)
                .handler(connection)
                .connect(address);
        future.addListener(done -> {
            if (!done.isSuccess()) {
                connection.connectFailed(done.cause());
            }
        });
    }

    @Override
    public void close() {
        // The loops are the server's.
    }

    @Override
    public String toString() {
        return address.toString();
    }
}
