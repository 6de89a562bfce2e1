package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.WatchRequest;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.TreeState;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WatchRequestsTest {
    private final DefaultEventLoop eventLoop = new DefaultEventLoop();
    private final ManualTimeSource time = new ManualTimeSource();
    private final Loop loop = new Loop(eventLoop, unused(ReplicatedLog.class), time, new Feed(1));
    private final LimitGuard guard = new LimitGuard(ClientLimits.defaults(), time);

    private static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                WatchRequestsTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                }));
    }

    private ClientConnection connection(long maxOutputBytes) {
        ConnectionServices services = new ConnectionServices(
                new ConnectionLimits(0, 0, maxOutputBytes, 100, 60_000, 2000),
                guard,
                unused(SessionLeases.class),
                new SessionIds(1, new Random(1)),
                new ClusterNode(),
                () -> TreeState.OF_NO_CLUSTER,
                ClientSecurity.NONE,
                CommandWords.NONE,
                changes -> new CompletableFuture<>(),
                CompletableFuture::new,
                () -> false,
                time);
        ClientConnection connection = new ClientConnection(new EmbeddedChannel(), loop, services, List.of());
        connection.attaching();
        connection.attachedReadOnly(1);
        return connection;
    }

    private static WatchRequests.OldWatches old(int missed, int persistent) {
        List<String> gone =
                IntStream.range(0, missed).mapToObj(i -> "/gone-" + i).toList();
        List<String> kept =
                IntStream.range(0, persistent).mapToObj(i -> "/kept-" + i).toList();
        return new WatchRequests.OldWatches(
                new WatchRequest.SetWatches(OpCode.SET_WATCHES2, 0, gone, List.of(), List.of(), kept, List.of()));
    }

    /** The connection ends in the middle of the list, and with it all watches; nothing would take later ones away. */
    @Test
    void aClientThatDoesNotReadItsEventsLeavesNoWatches() {
        ClientConnection connection = connection(1);
        assertFalse(new WatchRequests(connection).setAgain(old(10_000, 100), 20_000));
        assertTrue(connection.isGone());
        assertEquals(0, loop.watches().size());
        assertEquals(0, guard.watchBytes());
    }

    @Test
    void aClientThatReadsItsEventsHasItsWatches() {
        ClientConnection connection = connection(1 << 20);
        assertTrue(new WatchRequests(connection).setAgain(old(10_000, 100), 20_000));
        assertFalse(connection.isGone());
        assertEquals(100, loop.watches().size());
        connection.close("the test is over");
        assertEquals(0, guard.watchBytes());
    }

    @AfterEach
    void end() {
        eventLoop.shutdownGracefully();
    }
}
