package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.replica.ChangeProposal;
import io.conclave.tree.AllocatedBytes;
import io.conclave.tree.Change;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Writes into a state that has no room but for ephemeral znodes. What a server does for those that it refuses is
 * counted in bytes of garbage: its heap is nearly full.
 */
@Timeout(300)
class FullStateTest {
    private static final byte[] DATA = new byte[100_000];
    private static final int ROUNDS = 50;

    /** The reply, and what the log would say of the refusal. */
    private static final int GARBAGE_OF_A_REFUSAL = 10_000;

    private final LoneLoop server = new LoneLoop(ClientLimits.defaults()
            .with(ClientLimit.STATE_BYTES, TreeState.OF_NO_CLUSTER.approximateHeapBytes() - 1)
            .with(ClientLimit.QUOTA_COUNTS, 1));
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionReader reader = server.reader(channel, 1 << 20, new TestLeases());

    FullStateTest() {
        Arrays.fill(DATA, (byte) 7);
        LoneLoop.open(reader.connection(), 1);
    }

    private static RequestBody create(CreateFlag flag) {
        return new RequestBody.Create(OpCode.CREATE, "/n", DATA, AclRecord.OPEN, flag);
    }

    /** How much the loop allocates for a request, without its frame. */
    private long garbageOf(RequestBody request) {
        ByteBuf frame = Unpooled.buffer();
        Frames.writeRequest(frame, 1, request);
        AtomicLong bytes = new AtomicLong();
        server.loop.post(() -> bytes.set(AllocatedBytes.of(() -> {
            reader.channelRead(null, frame);
            reader.channelReadComplete(null);
        })));
        server.finishTask();
        return bytes.get();
    }

    private int error() {
        ByteBuf reply = channel.readOutbound();
        reply.skipBytes(Frames.LENGTH_BYTES);
        int error = ReplyHeader.decode(new JuteReader(reply)).err();
        reply.release();
        return error;
    }

    private void assertRefusedWithoutACopy(RequestBody request) {
        long[] garbage = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            garbage[i] = garbageOf(request);
            assertEquals(ErrorCode.QUOTA_EXCEEDED.code(), error());
        }
        assertEquals(0, server.proposed.size());
        assertEquals(ROUNDS, server.guard.count(ClientLimit.STATE_BYTES));
        Arrays.sort(garbage); // the first ones load classes
        assertTrue(garbage[ROUNDS / 2] < GARBAGE_OF_A_REFUSAL, () -> garbage[ROUNDS / 2] + " bytes");
    }

    @Test
    void aLongCreateIsRefusedWithoutACopyOfItsData() {
        assertRefusedWithoutACopy(create(CreateFlag.PERSISTENT));
    }

    @Test
    void aLongValueIsRefusedWithoutACopy() {
        assertRefusedWithoutACopy(new RequestBody.SetData("/", DATA, -1));
    }

    @Test
    void whatAFullStateHasRoomForHasAllOfItsData() {
        garbageOf(create(CreateFlag.EPHEMERAL));
        Change change = ((ChangeProposal) server.proposed.get(0)).change();
        TreeOperation.Create proposed = (TreeOperation.Create) ((Change.Request) change).operation();
        assertTrue(Arrays.equals(DATA, proposed.data()));
        assertEquals(1, server.proposed.size());
    }

    /** Its znodes are counted once: a look before its data is copied would use up what is left for a second one. */
    @Test
    void aLongQuotaThatAFullStateHasRoomForIsCountedOnce() {
        garbageOf(new RequestBody.Create(
                OpCode.CREATE, "/zookeeper/quota/a/zookeeper_stats", DATA, AclRecord.OPEN, CreateFlag.EPHEMERAL));
        assertEquals(1, server.proposed.size());
        assertEquals(0, server.guard.count(ClientLimit.QUOTA_COUNTS));
    }

    @AfterEach
    void end() {
        server.loop.post(() -> reader.connection().close("the test is over"));
        server.finishTask();
        channel.releaseOutbound();
        server.close();
    }
}
