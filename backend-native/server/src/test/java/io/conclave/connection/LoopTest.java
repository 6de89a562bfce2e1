package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeState;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopTest {
    private final DefaultEventLoop eventLoop = new DefaultEventLoop();
    private final Feed feed = new Feed(1, () -> {});
    private final ManualTimeSource time = new ManualTimeSource();
    private final Loop loop = new Loop(eventLoop, noLog(), time, feed);

    private static ReplicatedLog noLog() {
        return (ReplicatedLog) Proxy.newProxyInstance(
                LoopTest.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    private static List<TreeEvent> unreadable() {
        return new AbstractList<>() {
            @Override
            public TreeEvent get(int index) {
                throw new IllegalStateException("planted");
            }

            @Override
            public int size() {
                return 1;
            }
        };
    }

    @Test
    void aStepWithUnreadableEventsDoesNotHoldUpTheNextOnes() {
        Change change = new Change.RaiseFeatureLevel(1);
        TreeState before = TreeState.initial(new UUID(1, 2), 0);
        Applied first = Tree.apply(before, change, 1);
        Applied second = Tree.apply(first.state(), change, 2);
        Applied failing = new Applied(first.state(), first.zxid(), new Result.Deleted(), unreadable());
        int[] tasks = {0};
        feed.batch(List.of(new Step(change, failing, null), new Step(change, second, null)));
        feed.task(loop, () -> tasks[0]++);
        loop.catchUp();
        assertSame(second.state(), loop.state());
        assertEquals(1, tasks[0]);
    }

    /** All that is done before others have their turn is one turn, also where something in it calls the loop again. */
    @Test
    void theLongestTurnIsKeptUntilItIsReset() throws Exception {
        eventLoop
                .submit(() -> {
                    loop.post(() -> turn(7));
                    loop.post(() -> turn(5));
                })
                .get();
        eventLoop.submit(() -> loop.post(() -> turn(3))).get();
        ConnectionTotals.Turns turns =
                eventLoop.submit(() -> loop.turns().totals()).get();
        assertEquals(new ConnectionTotals.Turns(2, 15, 12), turns);
        assertEquals(7.5, turns.averageMs());
        ConnectionTotals.Turns none = eventLoop
                .submit(() -> {
                    loop.turns().reset();
                    return loop.turns().totals();
                })
                .get();
        assertEquals(new ConnectionTotals.Turns(0, 0, 0), none);
        assertEquals(0, none.averageMs());
        assertEquals(new ConnectionTotals.Turns(2, 15, 12), none.plus(turns));
    }

    /** Its timers are never late: what is due at once is done before the caller goes on. */
    private final class HastyTime implements TimeSource {
        @Override
        public long monotonicNanos() {
            return time.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            if (delay.isZero()) {
                task.run();
                return () -> {};
            }
            return time.schedule(delay, task);
        }
    }

    @Test
    @SuppressWarnings("deprecation") // Netty 4.1 has no other event loops, and 4.2 keeps these
    void socketsAreLookedAtBetweenTwoSlicesOfLongWorkHoweverSoonTheNextOneIsDue() throws Exception {
        int slices = 1_000;
        AtomicBoolean received = new AtomicBoolean();
        CompletableFuture<Boolean> accepted = new CompletableFuture<>();
        CompletableFuture<Integer> left = new CompletableFuture<>();
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        Channel port = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext context) {
                        accepted.complete(true);
                    }

                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        ReferenceCountUtil.release(message);
                        received.set(true);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
        try (Socket client =
                new Socket(InetAddress.getLoopbackAddress(), ((InetSocketAddress) port.localAddress()).getPort())) {
            assertTrue(accepted.get());
            Loop busy = new Loop(group.next(), noLog(), new HastyTime(), new Feed(1, () -> {}));
            int[] slice = {0};
            busy.post(() -> {
                busy.counters().received();
                busy.longWork().add(() -> {
                    if (slice[0]++ == 0) {
                        send(client);
                    }
                    time.advance(LongWork.SLICE);
                    boolean isOver = received.get() || slice[0] == slices;
                    return isOver && left.complete(slices - slice[0]);
                });
            });
            assertNotEquals(0, left.get());
        } finally {
            group.shutdownGracefully();
        }
    }

    private static void send(Socket client) {
        try {
            client.getOutputStream().write(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void turn(int ms) {
        loop.turns().begin();
        time.advance(Duration.ofMillis(ms));
        loop.turns().end();
    }

    @AfterEach
    void end() {
        eventLoop.shutdownGracefully();
    }
}
