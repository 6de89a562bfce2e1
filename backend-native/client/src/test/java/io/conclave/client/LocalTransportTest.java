package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.error.ClosedException;
import io.conclave.node.NodePath;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestHeader;
import io.conclave.request.GetData;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendSession;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The client over a channel inside this JVM, on the event loop of its server. */
class LocalTransportTest {
    @SuppressWarnings("deprecation")
    private final EventLoopGroup loops = new DefaultEventLoopGroup(1);

    @Test
    void requestsAreAnsweredOnOneSharedLoopAndTheHookRunsOnce() throws Exception {
        LocalAddress address = new LocalAddress("local-transport-test");
        new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<LocalChannel>() {
                    @Override
                    protected void initChannel(LocalChannel channel) {
                        channel.pipeline().addLast(new TinyServer());
                    }
                })
                .bind(address)
                .sync();
        AtomicInteger closed = new AtomicInteger();
        Backend backend = WireBackend.local(address, loops, TestSession.options(), closed::incrementAndGet);
        BackendSession session = backend.openSession(state -> {});
        for (int i = 0; i < 100; i++) {
            CompletableFuture<GetData.NodeData> answer =
                    session.submit(GetData.of(NodePath.of("/a"))).toCompletableFuture();
            assertArrayEquals(new byte[] {5}, TestSession.join(answer).data());
        }
        backend.close();
        backend.close();
        assertEquals(1, closed.get());
        assertThrows(
                ClosedException.class,
                () -> TestSession.join(
                        session.submit(GetData.of(NodePath.of("/a"))).toCompletableFuture()));
        loops.shutdownGracefully().sync();
    }

    /** Answers every read with the same data, and a close. */
    private static final class TinyServer extends ChannelInboundHandlerAdapter {
        private final ByteBuf received = Unpooled.buffer();
        private boolean greeted;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            received.writeBytes(bytes);
            bytes.release();
            ByteBuf out = ctx.alloc().buffer();
            Optional<ByteBuf> frame = Frames.next(received, Frames.DEFAULT_MAX_PAYLOAD_BYTES);
            while (frame.isPresent()) {
                answer(new JuteReader(frame.get()), out);
                frame = Frames.next(received, Frames.DEFAULT_MAX_PAYLOAD_BYTES);
            }
            ctx.writeAndFlush(out);
        }

        private void answer(JuteReader in, ByteBuf out) {
            if (!greeted) {
                greeted = true;
                ConnectRequest request = ConnectRequest.decode(in);
                Frames.write(out, new ConnectResponse(0, request.timeoutMs(), 1, new byte[16], false, true));
                return;
            }
            RequestHeader header = RequestHeader.decode(in);
            ReplyHeader reply = new ReplyHeader(header.xid(), 1, ErrorCode.OK.code());
            Frames.write(
                    out,
                    reply,
                    header.type() == OpCode.GET_DATA.code()
                            ? new ReplyBody.GetData(new byte[] {5}, FakeServer.STAT)
                            : ReplyBody.Empty.INSTANCE);
        }
    }
}
