package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FrameChannelTest {
    private static final int MAX_FRAME_BYTES = 1 << 20;
    private static final int LARGE = 100_000;

    private final List<String> events = new ArrayList<>();
    private final FrameChannel frames = new FrameChannel(new Recorder(), MAX_FRAME_BYTES);
    private final EmbeddedChannel channel = new EmbeddedChannel(frames);

    private final class Recorder implements FrameChannel.Owner {
        @Override
        public void opened() {
            events.add("opened");
        }

        @Override
        public void arrived(ByteBuf frame) {
            events.add("arrived");
        }

        @Override
        public void lackedMemory() {
            events.add("lacked memory");
        }

        @Override
        public void ended(String reason) {
            events.add("ended: " + reason);
        }
    }

    /** Has no memory for large buffers. */
    private static final class SmallMemory extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int capacity, int maxCapacity) {
            if (capacity >= LARGE) {
                throw new OutOfMemoryError("direct");
            }
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(capacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int capacity, int maxCapacity) {
            return newHeapBuffer(capacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @Test
    void aFrameThatThereIsNoMemoryForEndsTheConnectionAndNothingElse() {
        channel.config().setAllocator(new SmallMemory());
        frames.write(out -> out.writeInt(7), Integer.BYTES);
        frames.write(out -> out.writeZero(LARGE), LARGE);
        assertTrue(frames.isClosed());
        channel.runPendingTasks();
        assertEquals(List.of("opened", "lacked memory", "ended: there is no memory for its frames: direct"), events);
        ByteBuf sent = channel.readOutbound();
        assertEquals(Integer.BYTES, sent.readInt(), "what was gathered before is sent");
        sent.release();
    }

    @Test
    void aFrameWhoseBufferCannotGrowEndsTheConnection() {
        frames.write(
                out -> {
                    throw new OutOfMemoryError("direct");
                },
                Integer.BYTES);
        assertTrue(frames.isClosed());
        frames.write(out -> out.writeInt(7), Integer.BYTES);
        channel.runPendingTasks();
        assertEquals(1, events.stream().filter("lacked memory"::equals).count());
    }

    @Test
    void aReadThatThereIsNoMemoryForEndsTheConnection() {
        channel.pipeline().fireExceptionCaught(new OutOfMemoryError("direct"));
        assertTrue(events.contains("lacked memory"));
        assertFalse(channel.isOpen());
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
    }
}
