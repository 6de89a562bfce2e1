package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.JoinToken;
import io.conclave.testkit.Sample;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.security.KeyPair;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Frames of the conversation for a join token with bytes changed, cut and added at random, at both ends: each is read
 * or refused as malformed, and nothing else happens. {@code -Dconclave.fuzz.seed} and {@code -Dconclave.fuzz.joins}.
 */
@Tag("sampled")
class JoinFuzzTest {
    private static final int RUNS = Integer.getInteger("conclave.fuzz.joins", Sample.of(3_000));
    private static final List<byte[]> SECRETS = List.of(new byte[32], new byte[40]);

    private final long seed = Long.getLong("conclave.fuzz.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final JoinToken token = JoinToken.random(1);
    private final KeyPair calledKeys = JoinExchange.newKeys();
    private final KeyPair callersKeys = JoinExchange.newKeys();
    private final JoinHandshake.Hello hello =
            new JoinHandshake.Hello(1, 2, token.id(), callersKeys.getPublic().getEncoded());
    private final JoinExchange exchange =
            new JoinExchange(token, 1, 2, hello.key(), calledKeys.getPublic().getEncoded());
    private int read;
    private int refused;

    private static byte[] bytes(Consumer<ByteBuf> frame) {
        ByteBuf out = Unpooled.buffer();
        frame.accept(out);
        return ByteBufUtil.getBytes(out);
    }

    /** Some bytes changed; now and then some cut off or added. */
    private byte[] changed(byte[] frame) {
        int length = random.nextInt(3) == 0 ? random.nextInt(frame.length + 20) : frame.length;
        byte[] changed = java.util.Arrays.copyOf(frame, length);
        for (int flips = random.nextInt(4); flips > 0 && length > 0; flips--) {
            changed[random.nextInt(length)] = (byte) random.nextInt();
        }
        return changed;
    }

    private void fuzz(byte[] frame, Consumer<ByteBuf> reader) {
        for (int i = 0; i < RUNS; i++) {
            byte[] changed = changed(frame);
            try {
                reader.accept(Unpooled.wrappedBuffer(changed));
                read++;
            } catch (MalformedMessageException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ": " + ByteBufUtil.hexDump(changed), e);
            }
        }
        assertTrue(read > 0 && refused > 0, read + " read, " + refused + " refused");
    }

    @Test
    void helloOfACaller() {
        fuzz(bytes(out -> JoinHandshake.writeHello(out, hello)), frame -> {
            PeerHandshake.readVersion(frame);
            JoinHandshake.Hello said = JoinHandshake.readHello(frame);
            if (random.nextInt(20) == 0) { // a key that is none costs its sender the conversation
                JoinExchange with = new JoinExchange(
                        token, 1, 2, said.key(), calledKeys.getPublic().getEncoded());
                with.callersProof();
                with.seal(calledKeys, SECRETS);
            }
        });
    }

    @Test
    void challengeOfTheCalledOne() {
        fuzz(bytes(out -> JoinHandshake.writeChallenge(out, exchange)), frame -> {
            PeerHandshake.readVersion(frame);
            if (PeerHandshake.readReply(frame).accepted()) {
                JoinHandshake.readChallenge(frame, token, hello);
            }
        });
    }

    @Test
    void proofOfTheCaller() {
        fuzz(bytes(out -> out.writeBytes(exchange.callersProof())), JoinHandshake::readProof);
    }

    @Test
    void replyOfTheCalledOne() {
        byte[] sealed = exchange.seal(calledKeys, SECRETS);
        fuzz(bytes(out -> JoinHandshake.writeReply(out, sealed)), frame -> {
            PeerHandshake.readVersion(frame);
            if (PeerHandshake.readReply(frame).accepted()) {
                exchange.open(callersKeys, JoinHandshake.readSealed(frame));
            }
        });
    }

    /** The called one has the token, so what it seals can be opened, whatever it is. */
    @Test
    void anythingThatIsSealedAsSecrets() {
        byte[] plain = ByteBuffer.allocate(1 + 2 + 32 + 2 + 40)
                .put((byte) 2)
                .putShort((short) 32)
                .put(SECRETS.get(0))
                .putShort((short) 40)
                .put(SECRETS.get(1))
                .array();
        assertEquals(
                2, exchange.open(callersKeys, exchange.seal(calledKeys, plain)).size());
        fuzz(plain, frame -> exchange.open(callersKeys, exchange.seal(calledKeys, ByteBufUtil.getBytes(frame))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "ff", "7f", "01", "0120", "01ffff", "018000", "010020", "01001f"})
    void secretsThatCannotBe(String hex) {
        byte[] plain = ByteBufUtil.decodeHexDump(hex);
        assertThrows(
                MalformedMessageException.class, () -> exchange.open(callersKeys, exchange.seal(calledKeys, plain)));
    }
}
