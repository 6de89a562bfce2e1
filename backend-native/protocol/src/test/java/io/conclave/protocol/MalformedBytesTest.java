package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.conclave.protocol.Samples.Sample;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class MalformedBytesTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A decode of a few hundred bytes, its exception included, stays far below. */
    private static final long MAX_ALLOCATED_BYTES = 1 << 20;

    @Test
    void aRecordCutAtAnyByteIsMalformed() {
        long seed = new Random().nextLong();
        System.out.println("aRecordCutAtAnyByteIsMalformed: seed " + seed);
        Samples samples = new Samples(new Random(seed));
        for (int round = 0; round < 20; round++) {
            for (Sample sample : samples.every()) {
                byte[] whole = sample.encoded();
                for (int length = 0; length < whole.length; length++) {
                    if (!isWholeToo(sample.record(), whole.length - length)) {
                        byte[] cut = Arrays.copyOf(whole, length);
                        assertThrows(
                                MalformedFrameException.class,
                                () -> sample.decode(cut),
                                () -> sample.name() + " cut to " + cut.length + " bytes, seed " + seed);
                    }
                }
            }
        }
    }

    /** Opaque bodies end where the frame ends, and the last byte of a handshake may be missing. */
    private static boolean isWholeToo(WireRecord record, int missingBytes) {
        return record instanceof RequestBody.Opaque
                || record instanceof ReplyBody.Opaque
                || (missingBytes == 1 && record instanceof ConnectRequest request && request.readOnlyPresent())
                || (missingBytes == 1 && record instanceof ConnectResponse response && response.readOnlyPresent());
    }

    @Test
    void randomBytesAreDecodedOrMalformedAndNothingElse() {
        long seed = new Random().nextLong();
        System.out.println("randomBytesAreDecodedOrMalformedAndNothingElse: seed " + seed);
        Random random = new Random(seed);
        List<Sample> decoders = new Samples(random).every();
        int decoded = 0;
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                lowerHighBytes(bytes, random);
            }
            decoded += decodes(decoders.get(i % decoders.size()), bytes, seed) ? 1 : 0;
        }
        assertTrue(decoded > 1000, "only " + decoded + " decoded: the bytes are too random to test much");
    }

    @Test
    void changedBytesAreDecodedOrMalformedAndNothingElse() {
        long seed = new Random().nextLong();
        System.out.println("changedBytesAreDecodedOrMalformedAndNothingElse: seed " + seed);
        Random random = new Random(seed);
        Samples samples = new Samples(random);
        for (int round = 0; round < 1400; round++) {
            for (Sample sample : samples.every()) {
                byte[] bytes = sample.encoded();
                for (int changes = bytes.length == 0 ? 0 : random.nextInt(4); changes > 0; changes--) {
                    bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean() ? 0xff : random.nextInt());
                }
                decodes(sample, bytes, seed);
            }
        }
    }

    /** Makes small lengths likely, so that decoding gets further than the first one. */
    private static void lowerHighBytes(byte[] bytes, Random random) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = i % 4 == 3 ? (byte) random.nextInt(6) : 0;
        }
    }

    /** Whether the bytes could be decoded; then they must also survive a round trip. */
    private static boolean decodes(Sample sample, byte[] bytes, long seed) {
        long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        WireRecord record = null;
        try {
            record = sample.decode(bytes);
        } catch (MalformedFrameException expected) {
            // the one way to fail
        } catch (RuntimeException | Error e) {
            fail(sample.name() + " of " + Arrays.toString(bytes) + ", seed " + seed, e);
        }
        long allocated = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        assertTrue(
                allocated < MAX_ALLOCATED_BYTES,
                () -> sample.name() + " allocated " + allocated + " for " + bytes.length + " bytes, seed " + seed);
        if (record == null) {
            return false;
        }
        byte[] again = Samples.encode(record);
        assertEquals(Samples.contents(record), Samples.contents(sample.decode(again)), () -> "seed " + seed);
        return true;
    }

    @Test
    void aLengthBeyondTheFrameIsRefusedBeforeAnythingIsAllocated() {
        for (int length : new int[] {Integer.MAX_VALUE, 1 << 28, 1 << 20, 5, -2, Integer.MIN_VALUE}) {
            ByteBuf frame = Unpooled.buffer().writeInt(length).writeInt(0);
            refuses(frame, in -> in.readBuffer("data"), "data: ");
            refuses(frame, in -> in.readString("path"), "path: ");
            refuses(frame, in -> in.readStrings("children"), "children: ");
            refuses(frame, AclRecord::decodeList, "acl: ");
        }
    }

    private static void refuses(ByteBuf frame, Function<JuteReader, Object> read, String field) {
        long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        MalformedFrameException e =
                assertThrows(MalformedFrameException.class, () -> read.apply(new JuteReader(frame.duplicate())));
        long allocated = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        assertTrue(e.getMessage().startsWith(field), e.getMessage());
        assertTrue(allocated < MAX_ALLOCATED_BYTES, () -> "allocated " + allocated);
    }

    @Test
    void anOperationThatCannotBePartOfAMultiIsMalformed() {
        for (int type : new int[] {OpCode.EXISTS.code(), OpCode.MULTI.code(), OpCode.GET_DATA.code(), 4711, -1}) {
            ByteBuf frame =
                    Unpooled.buffer().writeInt(type).writeByte(0).writeInt(-1).writeZero(100);
            MalformedFrameException e = assertThrows(
                    MalformedFrameException.class, () -> RequestBody.decode(OpCode.MULTI, new JuteReader(frame)));
            assertEquals("multi type", e.field());
        }
    }
}
