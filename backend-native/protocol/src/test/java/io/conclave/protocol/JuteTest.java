package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JuteTest {

    @Test
    void bytesThatAreNotUtf8AreReadAsTheJdkReadsThem() {
        long seed = new Random().nextLong();
        System.out.println("bytesThatAreNotUtf8AreReadAsTheJdkReadsThem: seed " + seed);
        Random random = new Random(seed);
        ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            ByteBuf frame = random.nextBoolean() ? allocator.directBuffer() : allocator.heapBuffer();
            frame.writeInt(bytes.length).writeBytes(bytes);
            assertEquals(
                    new String(bytes, StandardCharsets.UTF_8),
                    new JuteReader(frame).readString("path"),
                    () -> "seed " + seed);
            frame.release();
        }
    }

    @Test
    void stringsAreWrittenAsTheJdkWritesThem() {
        for (String string : List.of("", "/a", "é€漢", "\uD83D\uDE00", "lone \uD83D", "\uDE00 lone", "\u0000")) {
            byte[] utf8 = string.getBytes(StandardCharsets.UTF_8);
            byte[] expected = new byte[4 + utf8.length];
            Unpooled.wrappedBuffer(expected).clear().writeInt(utf8.length).writeBytes(utf8);
            assertArrayEquals(expected, Samples.encode(out -> out.writeString(string)), string);
        }
    }

    /** Of a long one the bytes are counted before they are written. */
    @Test
    void longStringsAreWrittenAsTheJdkWritesThemAndTakeLittleMoreRoom() {
        for (String part : List.of("x", "\u00e9", "\u20ac", "\ud83d\ude00", "\ud83d", "a\ude00")) {
            String string = part.repeat(10_000);
            byte[] utf8 = string.getBytes(StandardCharsets.UTF_8);
            ByteBuf out = Unpooled.buffer(16);
            new JuteWriter(out).writeString(string);
            assertEquals(utf8.length, out.readInt());
            assertTrue(out.capacity() <= 2 * (utf8.length + 4), out.toString());
            assertEquals(Unpooled.wrappedBuffer(utf8), out);
        }
    }

    @Test
    void nullKeepsItsOwnLength() {
        assertArrayEquals(new byte[] {-1, -1, -1, -1}, Samples.encode(out -> out.writeString(null)));
        assertArrayEquals(new byte[] {-1, -1, -1, -1}, Samples.encode(out -> out.writeBuffer(null)));
        assertArrayEquals(new byte[4], Samples.encode(out -> out.writeBuffer(new byte[0])));
        ByteBuf nulls = Unpooled.buffer().writeInt(-1).writeInt(-1).writeInt(-1).writeInt(-1);
        JuteReader in = new JuteReader(nulls);
        assertNull(in.readBuffer("data"));
        assertNull(in.readNullableString("path"));
        assertEquals("", in.readString("path"));
        assertEquals(List.of(), in.readStrings("children"));
    }

    @Test
    void decodedListsCannotBeModified() {
        ReplyBody.GetChildren reply = (ReplyBody.GetChildren) ReplyBody.decode(
                OpCode.GET_CHILDREN,
                new JuteReader(Unpooled.wrappedBuffer(Samples.encode(new ReplyBody.GetChildren(List.of("a"))))));
        assertThrows(UnsupportedOperationException.class, () -> reply.children().add("b"));
    }

    @Test
    void unknownNumbersHaveADescription() {
        assertEquals("NO_NODE (-101)", ErrorCode.describe(-101));
        assertEquals("unknown (-4711)", ErrorCode.describe(-4711));
    }

    /** As in ZooKeeper, which refuses the request for what cannot be read; the limit of paths is for whole ones. */
    @Test
    void aPathWhoseLengthIsBeyondTheFrameIsMalformedWhateverTheLimit() {
        for (int length : List.of(10, 17, 1_000, Integer.MAX_VALUE)) {
            ByteBuf frame = Unpooled.buffer().writeInt(length).writeBytes("/short".getBytes(StandardCharsets.UTF_8));
            assertThrows(MalformedFrameException.class, () -> new JuteReader(frame.duplicate(), 16).readPath("path"));
            assertThrows(
                    MalformedFrameException.class, () -> new JuteReader(frame.duplicate(), 16).readPathIfAny("path"));
        }
        ByteBuf whole = Unpooled.buffer().writeInt(17).writeBytes("/seventeen-bytes-".getBytes(StandardCharsets.UTF_8));
        assertThrows(PathTooLongException.class, () -> new JuteReader(whole, 16).readPath("path"));
    }
}
