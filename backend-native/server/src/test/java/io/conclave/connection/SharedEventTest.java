package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many watchers of one event: what it takes is counted in bytes of memory. */
@Timeout(300)
class SharedEventTest {
    private static final int WATCHERS = 100;
    private static final int LONG = 16_000;
    /** For each watcher: what a connection gathers, and the marks behind it. */
    private static final int OWN_BYTES = 1_024;

    private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(false);
    private final LoneLoop server = new LoneLoop();
    private final List<UnreadChannel> channels = new ArrayList<>();
    private final List<ClientConnection> connections = new ArrayList<>();

    SharedEventTest() {
        for (int i = 1; i <= WATCHERS; i++) {
            UnreadChannel channel = new UnreadChannel();
            channel.config().setAllocator(memory);
            ClientConnection connection =
                    server.reader(channel, 10 * LONG, new TestLeases()).connection();
            LoneLoop.open(connection, i);
            channels.add(channel);
            connections.add(connection);
            onLoop(() -> server.loop.watches().add("/", connection, WatchTable.RECURSIVE));
        }
    }

    private void onLoop(Runnable task) {
        server.loop.post(task);
        server.finishTask();
    }

    private static TreeEvent event(int pathLength, long zxid) {
        return new TreeEvent(TreeEvent.Type.DATA_CHANGED, "/" + "x".repeat(pathLength - 1), zxid, ZnodeAcl.OPEN);
    }

    private void fire(TreeEvent event) {
        onLoop(() -> server.loop.watches().fire(event));
    }

    private static ByteBuf frameOf(TreeEvent event) {
        ByteBuf frame = Unpooled.buffer();
        Frames.write(
                frame,
                new ReplyHeader(Xid.WATCH_EVENT, event.zxid(), ErrorCode.OK.code()),
                new WatcherEvent(event.type().code(), WatcherEvent.STATE_CONNECTED, event.path()));
        return frame;
    }

    private long usedBytes() {
        return memory.metric().usedHeapMemory() + memory.metric().usedDirectMemory();
    }

    /** All that the client of a channel reads now: the loop's turn may not have come to its flush yet. */
    private ByteBuf read(UnreadChannel channel) {
        onLoop(() -> {
            server.loop.flush();
            channel.readAll();
        });
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        return all;
    }

    @Test
    void aLongEventIsInMemoryOnceHoweverManyDoNotReadIt() {
        fire(event(LONG, 1));
        assertTrue(usedBytes() < 3 * LONG + WATCHERS * OWN_BYTES, () -> usedBytes() + " bytes");
    }

    /** The bound of what is unread counts bytes, and the memory is that of the buffers. */
    @Test
    void anEventForOneTakesAboutTwiceItsBytesAtMost() {
        onLoop(() -> {
            connections.get(0).tell(event(LONG, 1));
            server.loop.flush();
        });
        assertTrue(usedBytes() < 2 * LONG + OWN_BYTES, () -> usedBytes() + " bytes");
    }

    @Test
    void eachWatcherReadsTheSameEventsInTheirOrder() {
        List<TreeEvent> events = List.of(event(10, 1), event(LONG, 2), event(10, 3), event(LONG, 4));
        events.forEach(this::fire);
        ByteBuf expected = Unpooled.buffer();
        events.forEach(event -> expected.writeBytes(frameOf(event)));
        for (UnreadChannel channel : channels) {
            assertEquals(expected, read(channel));
        }
    }

    /** TLS appends what comes next to a buffer that has room. */
    @Test
    void nobodyCanWriteBehindWhatOthersAreSent() {
        fire(event(LONG, 1));
        UnreadChannel channel = channels.get(0);
        onLoop(channel::readAll);
        ByteBuf sent = channel.readOutbound();
        assertTrue(sent.readableBytes() > LONG);
        assertFalse(sent.isWritable());
        assertEquals(1, sent.ensureWritable(1, false), "it cannot grow");
        sent.release();
    }

    /** What a flush will send is not unread yet. */
    @Test
    void whoReadsAllMayBeSentMoreInOneTurnThanItMayLeaveUnread() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ClientConnection reads =
                server.reader(channel, 2 * LONG, new TestLeases()).connection();
        LoneLoop.open(reads, WATCHERS + 1);
        onLoop(() -> {
            server.loop.watches().add("/", reads, WatchTable.RECURSIVE);
            for (int i = 1; i <= 3; i++) {
                server.loop.watches().fire(event(LONG, i));
            }
            server.loop.flush();
        });
        assertFalse(reads.isGone());
        onLoop(() -> reads.close("the test is over"));
        channel.releaseOutbound();
    }

    @Test
    void anEventThatCannotBeEncodedForOneIsEncodedForTheNext() {
        ByteBuf small = memory.heapBuffer(LONG / 4, LONG / 2); // as if there were no more memory
        ByteBufAllocator full = (ByteBufAllocator) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ByteBufAllocator.class}, (proxy, method, none) -> small);
        SharedEvent shared = new SharedEvent(event(LONG, 1), 2);
        assertThrows(IndexOutOfBoundsException.class, () -> shared.slice(full));
        assertEquals(0, small.refCnt());
        ByteBuf next = shared.slice(memory);
        assertEquals(frameOf(event(LONG, 1)), next);
        next.release();
        shared.release();
    }

    /** Each counts what its own client has to read, also what is in memory once. */
    @Test
    void whoReadsNothingIsCutAndTheOthersReadOn() {
        UnreadChannel reads = channels.get(0);
        for (int i = 1; i <= 11; i++) {
            fire(event(LONG, i));
            assertEquals(frameOf(event(LONG, i)), read(reads));
        }
        assertFalse(connections.get(0).isGone());
        assertEquals(
                WATCHERS - 1,
                connections.stream().filter(ClientConnection::isGone).count());
    }

    @AfterEach
    void nothingIsLeft() {
        for (int i = 0; i < WATCHERS; i++) {
            ClientConnection connection = connections.get(i);
            onLoop(() -> connection.close("the test is over"));
            channels.get(i).releaseOutbound();
        }
        assertEquals(0, usedBytes());
        server.close();
    }
}
