package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** Callers and servers that have no secret, and what they make of what others have said. */
@Timeout(300)
@Isolated("counts the lines that the whole package logs")
class FalseProofTest extends ProvenPeers {
    /** A caller whose proof is due next. */
    private RawPeer challenged(TestPeer one, CallersProof proof) throws IOException {
        RawPeer caller = dial(one).frame(proof::writeHello);
        ByteBuf challenge = caller.receive();
        PeerHandshake.readVersion(challenge);
        PeerHandshake.readReply(challenge);
        assertTrue(proof.knows(challenge, caller.binding()));
        return caller;
    }

    @Test
    void aStrangerIsToldNothing() throws IOException {
        TestPeer one = open(1, HAS_A);
        byte[] cluster = ByteBuffer.allocate(16)
                .putLong(TestPeer.CLUSTER.getMostSignificantBits())
                .putLong(TestPeer.CLUSTER.getLeastSignificantBits())
                .array();
        RawPeer plain = dial(one).hello(1, TestPeer.facts(2));
        ByteBuf refusal = plain.receive();
        assertEquals(-1, ByteBufUtil.indexOf(Unpooled.wrappedBuffer(cluster), refusal));
        PeerHandshake.readVersion(refusal);
        assertFalse(PeerHandshake.readReply(refusal).accepted());
        assertFalse(refusal.isReadable());

        RawPeer guesser = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, RawPeer.nonce())));
        ByteBuf challenge = guesser.receive();
        assertEquals(-1, ByteBufUtil.indexOf(Unpooled.wrappedBuffer(cluster), challenge));
        guesser.frame(out -> ProvenHandshake.writeAnswer(out, new byte[32], TestPeer.facts(2)));
        PeerHandshake.Reply reply = guesser.receiveReply();
        assertEquals(
                "member 2 has not proven that it has the cluster secret of member 1; compare their secret files",
                reply.reason());
        assertEquals(0, guesser.drain());
        assertEquals(List.of(), one.events());
    }

    /** It has recorded whole conversations, and says again what the caller said. */
    @Test
    void aRecordedHandshakeIsOfNoUse() throws IOException {
        TestPeer one = open(1, HAS_A);
        CallersProof proof = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer member = challenged(one, proof);
        byte[] hello = RawPeer.frameOf(proof::writeHello);
        byte[] answer = RawPeer.frameOf(out -> proof.writeAnswer(out, TestPeer.facts(2)));
        member.send(answer);
        assertTrue(member.receiveReply().accepted());
        member.close();
        one.awaitEvent("lost 2");
        one.forget();

        RawPeer replayed = dial(one).send(hello);
        replayed.receive();
        replayed.send(answer);
        assertFalse(replayed.receiveReply().accepted());
        RawPeer answerOnly = dial(one).send(answer);
        assertTrue(answerOnly.drain() == 0);
        assertEquals(List.of(), one.events());
    }

    /** It sends the member's own words back to it, in all ways that fit a place of the conversation. */
    @Test
    void aMemberDoesNotTakeItsOwnProofsFromAnother() throws IOException {
        TestPeer one = open(1, HAS_A);
        ByteBuf first = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, RawPeer.nonce())))
                .receive();
        PeerHandshake.readVersion(first);
        PeerHandshake.readReply(first);
        byte[] itsNonce = ProvenHandshake.readNonce(first);
        // its nonce as one's own, and its proof of that conversation as the answer
        RawPeer reflecting =
                dial(one).frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, itsNonce)));
        ByteBuf second = reflecting.receive();
        PeerHandshake.readVersion(second);
        PeerHandshake.readReply(second);
        ProvenHandshake.readNonce(second);
        byte[] itsProof = ProvenHandshake.readProofs(second).get(0);
        reflecting.frame(out -> ProvenHandshake.writeAnswer(out, itsProof, TestPeer.facts(2)));
        assertFalse(reflecting.receiveReply().accepted());

        // as its own number it is not even challenged
        RawPeer twin = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 1, RawPeer.nonce())));
        assertEquals("two servers are called member 1", twin.receiveReply().reason());
        assertEquals(List.of(), one.events());
    }

    /** The member dials it, and it answers with what the member says where it listens itself. */
    @Test
    void aServerThatReflectsWhatAMemberDialsItWithIsNotLinked() throws IOException {
        try (LogLines log = new LogLines();
                ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            TestPeer one = open(1, HAS_A);
            one.network.members(Map.of(2, TestPeer.member(2, server.getLocalPort())));
            RawPeer dialled = accept(server);
            ByteBuf hello = dialled.receive();
            PeerHandshake.readVersion(hello);
            ProvenHandshake.Hello itsHello = ProvenHandshake.readHello(hello);
            assertEquals(2, itsHello.wanted());
            RawPeer back = dial(one)
                    .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, itsHello.nonce())));
            ByteBuf challenge = back.receive();
            byte[] bytes = ByteBufUtil.getBytes(challenge);
            dialled.frame(out -> out.writeBytes(bytes));
            assertEquals(0, dialled.drain());
            await().until(() ->
                    log.with("it has not proven that it has the cluster secret").size() == 1);
            assertEquals(List.of(), one.events());
        }
    }

    @Test
    void theFactsAreProvenWithTheRest() throws IOException {
        TestPeer one = open(1, HAS_A);
        CallersProof proof = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer changed = challenged(one, proof);
        ByteBuf answer = Unpooled.buffer();
        proof.writeAnswer(answer, TestPeer.facts(2));
        changed.frame(out -> ProvenHandshake.writeAnswer(out, ProvenHandshake.readProof(answer), of(2, 99)));
        assertFalse(changed.receiveReply().accepted());
        CallersProof ofTwo = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer another = challenged(one, ofTwo);
        another.frame(out -> ofTwo.writeAnswer(out, TestPeer.facts(3)));
        assertFalse(another.receiveReply().accepted(), "it has said another number before");
        assertEquals(List.of(), one.events());
    }

    /** One byte of one frame of each conversation, in either direction. */
    @Test
    void aHandshakeWithAByteChangedOnTheWayMakesNoLink() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        TestPeer called = open(1, HAS_A);
        TestPeer caller = open(2, HAS_A);
        try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            caller.network.members(Map.of(1, TestPeer.member(1, proxy.getLocalPort())));
            for (int i = 0; i < 200; i++) {
                try (RawPeer from = accept(proxy);
                        RawPeer to = dial(called.network.port())) {
                    relay(from, to, random.nextInt(4), random);
                }
            }
        }
        assertEquals(List.of(), caller.events(), "seed " + seed);
        assertEquals(List.of(), called.messages(), "seed " + seed);
    }

    /** Passes hello, challenge, answer and reply on, one of them changed, until an end has closed it. */
    private static void relay(RawPeer from, RawPeer to, int changed, Random random) {
        try {
            for (int i = 0; i < 4; i++) {
                byte[] frame = ByteBufUtil.getBytes((i % 2 == 0 ? from : to).receive());
                if (i == changed) {
                    frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
                }
                (i % 2 == 0 ? to : from).frame(out -> out.writeBytes(frame));
            }
            from.drain();
        } catch (IOException e) {
            // an end has closed it
        }
    }
}
