package io.conclave.tls;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A server and a client over real sockets that shake hands, send a byte each, and say how it ended. */
final class HandshakePair {
    /** Of an end: the subject of the other end ("" without one), or how TLS failed. */
    private final class End extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<String> result;
        private final java.util.function.Function<Throwable, String> explain;

        End(CompletableFuture<String> result, java.util.function.Function<Throwable, String> explain) {
            this.result = result;
            this.explain = explain;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent end && end.isSuccess()) {
                ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
            } else if (event instanceof SslHandshakeCompletionEvent end) {
                result.complete("failed: " + explain.apply(end.cause()));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            io.netty.util.ReferenceCountUtil.release(message);
            SslHandler handler = ctx.pipeline().get(SslHandler.class);
            result.complete(TlsContext.peerSubject(handler).orElse(""));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable failure) {
            result.complete("failed: " + explain.apply(failure));
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            result.complete("closed");
        }
    }

    final CompletableFuture<String> server = new CompletableFuture<>();
    final CompletableFuture<String> client = new CompletableFuture<>();

    /** @param host what the client calls the server, which is on 127.0.0.1 */
    @SuppressWarnings("deprecation") // the way that Netty 4.1 has too
    void run(TlsContext serverTls, TlsContext clientTls, String host) throws Exception {
        EventLoopGroup loops = new NioEventLoopGroup(2);
        try {
            Supplier<SslHandler> accepted = () -> serverTls.serverHandler("127.0.0.1", 1);
            Channel listening = new ServerBootstrap()
                    .group(loops)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(accepted.get(), new End(server, serverTls::explainAsServer));
                        }
                    })
                    .bind("127.0.0.1", 0)
                    .sync()
                    .channel();
            int port = ((InetSocketAddress) listening.localAddress()).getPort();
            new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline()
                                    .addLast(
                                            clientTls.clientHandler(host, port),
                                            new End(client, clientTls::explainAsClient));
                        }
                    })
                    .connect("127.0.0.1", port)
                    .sync();
            server.get(120, TimeUnit.SECONDS);
            client.get(120, TimeUnit.SECONDS);
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }
}
