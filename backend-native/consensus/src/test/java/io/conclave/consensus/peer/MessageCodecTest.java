package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.core.PeerMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MessageCodecTest {

    private static byte[] encode(PeerMessage message) {
        ByteBuf out = Unpooled.buffer();
        MessageCodec.write(out, message);
        return ByteBufUtil.getBytes(out);
    }

    private static PeerMessage decode(byte... bytes) {
        return MessageCodec.read(Unpooled.wrappedBuffer(bytes));
    }

    private static String malformed(byte... bytes) {
        return String.valueOf(assertThrows(MalformedMessageException.class, () -> decode(bytes))
                .getMessage());
    }

    private static byte[] bytes(String hex) {
        return ByteBufUtil.decodeHexDump(hex.replace(" ", ""));
    }

    @Test
    void thereIsASampleOfEveryMessage() {
        assertEquals(
                Arrays.stream(PeerMessage.class.getPermittedSubclasses())
                        .flatMap(each ->
                                each.isRecord() ? Stream.of(each) : Arrays.stream(each.getPermittedSubclasses()))
                        .collect(Collectors.toSet()),
                MessageSamples.ALL.stream().map(Object::getClass).collect(Collectors.toSet()));
    }

    @Test
    void everyMessageIsReadAsItWasWritten() {
        for (PeerMessage message : MessageSamples.ALL) {
            assertEquals(MessageSamples.describe(message), MessageSamples.describe(decode(encode(message))));
        }
    }

    @Test
    void theRoomMadeForAMessageHoldsIt() {
        for (PeerMessage message : MessageSamples.ALL) {
            int length = encode(message).length;
            long room = MessageCodec.roomFor(message);
            assertTrue(room >= length && room <= length + 64, message + ": " + room + " for " + length);
        }
    }

    @Test
    void bytesStayAsTheyAre() throws IOException {
        String actual = MessageSamples.ALL.stream()
                .map(message -> message.getClass().getSimpleName() + " " + ByteBufUtil.hexDump(encode(message)))
                .collect(Collectors.joining("\n", "", "\n"));
        assertEquals(golden("peer-messages-2.hex"), actual);
    }

    static String golden(String name) throws IOException {
        try (var in = MessageCodecTest.class.getResourceAsStream("/golden/" + name)) {
            return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aMessageCutAnywhereIsRefused() {
        for (PeerMessage message : MessageSamples.ALL) {
            byte[] whole = encode(message);
            for (int length = 0; length < whole.length; length++) {
                malformed(Arrays.copyOf(whole, length));
            }
        }
    }

    @Test
    void bytesBehindAMessageAreRefused() {
        for (PeerMessage message : MessageSamples.ALL) {
            byte[] whole = encode(message);
            assertTrue(malformed(Arrays.copyOf(whole, whole.length + 1)).contains("left behind"));
        }
    }

    @Test
    void anUnknownTypeIsNamed() {
        assertEquals("message type 99 is unknown to this version", malformed((byte) 99));
        assertEquals("message type 0 is unknown to this version", malformed((byte) 0));
    }

    @Test
    void countsAndLengthsThatTheFrameCannotHoldAreRefusedBeforeAnythingIsAllocated() {
        assertTrue(malformed(bytes("0a 7fffffff 00000000")).contains("count of 2147483647 entries"));
        assertTrue(malformed(bytes("0a ffffffff")).contains("count of -1 entries"));
        String appendOfOne = "03 " + "0000000000000001".repeat(5);
        assertTrue(malformed(bytes(appendOfOne + "7fffffff")).contains("batches"));
        assertTrue(malformed(bytes("08 0000000000000001 7fffffff 00")).contains("a length of 2147483647 where 1"));
        assertTrue(malformed(bytes("08 0000000000000001 80000000 00")).contains("a length of -2147483648"));
    }

    @Test
    void aBatchWithoutEntriesAnUnknownKindAndAStrangeFlagAreRefused() {
        String append = "03 " + "0000000000000001".repeat(5) + "00000001" + "0000000000000001".repeat(3);
        assertTrue(malformed(bytes(append + "00000000")).contains("no entries"));
        String entry = "63 00" + "0000000000000000".repeat(2) + "00000000";
        assertTrue(malformed(bytes("0a 00000001" + entry)).contains("entry kind 99"));
        assertTrue(malformed(bytes("02 02 0000000000000001 00 00")).contains("a flag of 2"));
    }

    @Test
    void randomBytesAreReadOrRefusedButNeverAnythingElse() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<PeerMessage> samples = MessageSamples.ALL;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = encode(samples.get(random.nextInt(samples.size())));
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                decode(bytes);
            } catch (MalformedMessageException e) {
                // one of the two
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ": " + ByteBufUtil.hexDump(bytes), e);
            }
        }
    }
}
