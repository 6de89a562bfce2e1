package io.conclave.client;

import io.conclave.protocol.LocalBuffers;
import io.conclave.spi.ConnectString.Endpoint;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalChannel;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;

/** Connects to a server in this JVM, on event loops that it lends. */
final class LocalTransport implements ClientTransport {
    private final SocketAddress address;
    private final EventLoopGroup loops;
    private final List<Server> servers = List.of(new OnlyServer());

    private final class OnlyServer implements Server {
        @Override
        public void connect(EventLoop loop, Connection connection, Duration bound, TriedAddresses tried) {
            ChannelFuture future = new Bootstrap()
                    .group(loop)
                    .channel(LocalChannel.class)
                    .option(ChannelOption.ALLOCATOR, LocalBuffers.HEAP)
                    .handler(connection)
                    .connect(address);
            future.addListener(done -> {
                if (!done.isSuccess()) {
                    connection.connectFailed(done.cause());
                }
            });
        }

        @Override
        public String toString() {
            return address.toString();
        }
    }

    LocalTransport(SocketAddress address, EventLoopGroup loops) {
        this.address = address;
        this.loops = loops;
    }

    @Override
    public List<Server> servers() {
        return servers;
    }

    @Override
    public boolean followsEnsemble() {
        return false;
    }

    @Override
    public void learned(List<Endpoint> members) {
        // There is this one server.
    }

    @Override
    public EventLoop nextLoop() {
        return loops.next();
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
