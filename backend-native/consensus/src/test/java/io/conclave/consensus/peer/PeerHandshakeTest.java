package io.conclave.consensus.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.peer.PeerHandshake.Hello;
import io.conclave.consensus.peer.PeerHandshake.Reply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PeerHandshakeTest {
    private static final UUID ONE = new UUID(0x1111, 1);
    private static final UUID TWO = new UUID(0x2222, 2);

    private static PeerFacts facts(UUID cluster, int member) {
        return new PeerFacts(cluster, member, 0xd0 + member, 3, "zoo-" + member, 2181, member == 3);
    }

    private static ByteBuf hello(Hello hello) {
        ByteBuf out = Unpooled.buffer();
        PeerHandshake.writeHello(out, hello);
        return out;
    }

    private static ByteBuf reply(Reply reply, PeerFacts facts) {
        ByteBuf out = Unpooled.buffer();
        PeerHandshake.writeReply(out, reply, facts);
        return out;
    }

    private static Optional<String> refusal(PeerFacts called, int wanted, PeerFacts caller) {
        return PeerHandshake.refusal(called, new Hello(wanted, caller));
    }

    @Test
    void bothFramesAreReadAsTheyWereWritten() {
        Hello hello = new Hello(2, facts(ONE, 3));
        ByteBuf in = hello(hello);
        assertEquals(PeerHandshake.PLAIN, PeerHandshake.readVersion(in));
        assertEquals(hello, PeerHandshake.readHello(in));
        Reply reply = new Reply(false, "because");
        in = reply(reply, facts(TWO, 2));
        assertEquals(PeerHandshake.PLAIN, PeerHandshake.readVersion(in));
        assertEquals(reply, PeerHandshake.readReply(in));
        assertEquals(facts(TWO, 2), PeerHandshake.readFacts(in));
    }

    @Test
    void bytesStayAsTheyAre() throws IOException {
        String actual = "Hello " + ByteBufUtil.hexDump(hello(new Hello(2, facts(ONE, 3)))) + "\nAccepted "
                + ByteBufUtil.hexDump(reply(new Reply(true, ""), facts(ONE, 2))) + "\nRefused "
                + ByteBufUtil.hexDump(reply(new Reply(false, "because"), facts(TWO, 2))) + "\n";
        assertEquals(MessageCodecTest.golden("peer-handshake-2.hex"), actual);
    }

    @Test
    void membersOfOneClusterAndThoseOfNoneYetTakeEachOther() {
        for (UUID called : new UUID[] {ONE, PeerFacts.NO_CLUSTER}) {
            for (UUID caller : new UUID[] {ONE, PeerFacts.NO_CLUSTER}) {
                assertEquals(Optional.empty(), refusal(facts(called, 2), 2, facts(caller, 3)));
                assertEquals(Optional.empty(), PeerHandshake.refusal(facts(caller, 3), 2, facts(called, 2)));
            }
        }
    }

    @Test
    void aRefusalNamesBoth() {
        String clusters = refusal(facts(ONE, 2), 2, facts(TWO, 3)).orElseThrow();
        assertTrue(clusters.contains("member 3 belongs to cluster " + TWO), clusters);
        assertTrue(clusters.contains("member 2 to cluster " + ONE), clusters);
        String wanted = refusal(facts(ONE, 2), 4, facts(ONE, 3)).orElseThrow();
        assertEquals("member 3 looks for member 4, but here is member 2", wanted);
        String twins = refusal(facts(ONE, 2), 2, facts(ONE, 2)).orElseThrow();
        assertTrue(twins.startsWith("two servers are called member 2"), twins);
        String answers = PeerHandshake.refusal(facts(ONE, 3), 2, facts(ONE, 4)).orElseThrow();
        assertEquals("member 2 is expected there, but member 4 answers", answers);
        assertTrue(PeerHandshake.refusal(facts(ONE, 3), 2, facts(TWO, 2)).isPresent());
    }

    @Test
    void handshakesCutAnywhereAreRefused() {
        ByteBuf whole = hello(new Hello(2, facts(ONE, 3)));
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf cut = whole.slice(0, length);
            assertThrows(MalformedMessageException.class, () -> {
                PeerHandshake.readVersion(cut);
                PeerHandshake.readHello(cut);
            });
        }
        ByteBuf reply = reply(new Reply(true, "x"), facts(ONE, 2));
        for (int length = 0; length < reply.readableBytes(); length++) {
            ByteBuf cut = reply.slice(0, length);
            assertThrows(MalformedMessageException.class, () -> {
                PeerHandshake.readVersion(cut);
                PeerHandshake.readReply(cut);
                PeerHandshake.readFacts(cut);
            });
        }
    }

    @Test
    void randomBytesAreReadOrRefusedButNeverAnythingElse() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            ByteBuf in = hello(new Hello(2, facts(ONE, 3)));
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                in.setByte(random.nextInt(in.readableBytes()), random.nextInt());
            }
            String bytes = ByteBufUtil.hexDump(in);
            try {
                PeerHandshake.readVersion(in);
                PeerHandshake.readHello(in);
            } catch (MalformedMessageException e) {
                // one of the two
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ": " + bytes, e);
            }
        }
    }

    @Test
    void factsThatCannotBeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> facts(ONE, 0));
        assertThrows(IllegalArgumentException.class, () -> facts(ONE, 256));
        assertThrows(IllegalArgumentException.class, () -> new PeerFacts(ONE, 1, 1, 1, "x".repeat(256), 1, false));
        assertThrows(IllegalArgumentException.class, () -> new PeerFacts(ONE, 1, 1, 1, "", 65536, false));
    }

    /** A stranger's reason is a part of one line of the log, and reads as it was written. */
    @Test
    void reasonsHoldNothingThatIsNotSeen() {
        ByteBuf frame = reply(new Reply(false, "no\nWARN\u2028all\u2029is\u202ewell"), facts(ONE, 2));
        PeerHandshake.readVersion(frame);
        assertEquals(new Reply(false, "no?WARN?all?is?well"), PeerHandshake.readReply(frame));
    }
}
