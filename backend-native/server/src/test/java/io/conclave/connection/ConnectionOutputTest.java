package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class ConnectionOutputTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final LimitGuard guard = new LimitGuard(ClientLimits.defaults(), time);
    private final UnreadBytes unread = new UnreadBytes(guard, time);

    private ConnectionOutput output(EmbeddedChannel channel) {
        return new ConnectionOutput(channel, Runnable::run, unread.client("a client", () -> {}));
    }

    /** Its watches are removed some at a time, and what they fire meanwhile is for nobody. */
    @Test
    void noEventIsHeldForAConnectionThatHasEnded() {
        ConnectionOutput output = output(new EmbeddedChannel());
        output.beginHolding(1);
        output.release();
        assertFalse(output.isHolding());
    }

    @Test
    void nothingWaitsForAClientThatIsGone() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ConnectionOutput output = output(channel);
        assertEquals(0, output.backlogBytes());
        channel.close().syncUninterruptibly();
        assertEquals(0, output.backlogBytes());
    }

    /** What is written while there is a backlog tells, too, when it is read. */
    @Test
    void aClientThatReadsBitByBitHasReadAllInTheEnd() {
        UnreadChannel channel = new UnreadChannel();
        Queue<Runnable> soon = new ArrayDeque<>();
        ConnectionOutput output = new ConnectionOutput(channel, soon::add, unread.client("a client", () -> {}));
        for (int turn = 0; turn < 3; turn++) {
            output.write(new ReplyHeader(turn, turn, 0), ReplyBody.Empty.INSTANCE);
            output.flush();
        }
        long before = guard.unreadBytes();
        assertTrue(before > 0);
        for (int taken = 0; taken < 3; taken++) {
            channel.read(taken == 0 ? 2 : 1); // behind the first there is a mark without bytes
            soon.remove().run();
            assertTrue(guard.unreadBytes() < before, "each step is told");
            before = guard.unreadBytes();
        }
        assertEquals(0, before);
        assertEquals(List.of(), List.copyOf(soon));
    }

    @Test
    void whatIsWrittenBehindALargeReplyTellsToo() {
        UnreadChannel channel = new UnreadChannel();
        Queue<Runnable> soon = new ArrayDeque<>();
        ConnectionOutput output = new ConnectionOutput(channel, soon::add, unread.client("a client", () -> {}));
        channel.reads(true);
        output.write(new ReplyHeader(1, 1, 0), new ReplyBody.Opaque(new byte[300_000]));
        output.flush();
        channel.reads(false);
        output.write(new ReplyHeader(2, 2, 0), new ReplyBody.Opaque(new byte[100_000]));
        soon.remove().run(); // of the first one, behind the second
        output.flush();
        assertTrue(guard.unreadBytes() > 100_000);
        channel.read(2);
        soon.remove().run();
        assertEquals(0, guard.unreadBytes());
    }

    @Test
    void eachStepOfOneLongTurnIsTold() {
        UnreadChannel channel = new UnreadChannel();
        Queue<Runnable> soon = new ArrayDeque<>();
        ConnectionOutput output = new ConnectionOutput(channel, soon::add, unread.client("a client", () -> {}));
        for (int reply = 0; reply < 10; reply++) {
            output.write(new ReplyHeader(reply, reply, 0), new ReplyBody.Opaque(new byte[60_000]));
        }
        output.flush();
        long before = guard.unreadBytes();
        channel.read(1);
        soon.remove().run();
        assertTrue(guard.unreadBytes() < before);
    }

    @Test
    void whatIsReadOfAConnectionThatEndsCountsForNothing() {
        UnreadChannel channel = new UnreadChannel();
        Queue<Runnable> soon = new ArrayDeque<>();
        ConnectionOutput output = new ConnectionOutput(channel, soon::add, unread.client("a client", () -> {}));
        output.write(new ReplyHeader(1, 1, 0), new ReplyBody.Opaque(new byte[300_000]));
        output.flush();
        output.release();
        channel.read(1);
        soon.remove().run();
        assertEquals(0, guard.unreadBytes());
    }

    /** The bound of what is unread counts bytes, and the memory is that of the buffers. */
    @Test
    void smallEventsOfManyTurnsTakeNoMoreMemoryThanIsCounted() {
        UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(false);
        UnreadChannel channel = new UnreadChannel();
        channel.config().setAllocator(memory);
        ConnectionOutput output = new ConnectionOutput(channel, task -> {}, unread.client("a client", () -> {}));
        for (int turn = 0; turn < 1_000; turn++) {
            output.write(new SharedEvent(new TreeEvent(TreeEvent.Type.DATA_CHANGED, "/n", 1 + turn, ZnodeAcl.OPEN), 1));
            output.flush();
        }
        long usedBytes = memory.metric().usedHeapMemory() + memory.metric().usedDirectMemory();
        assertTrue(usedBytes <= guard.unreadBytes(), () -> usedBytes + " bytes, counted " + guard.unreadBytes());
        channel.readAll();
        channel.releaseOutbound();
        output.release();
    }
}
