package io.conclave.consensus.peer;

import io.conclave.consensus.PeerSecrets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The handshake of members that have the cluster's secret: each proves it to the other one before it is told anything.
 *
 * <pre>
 *   hello      magic 8 | version 4 | wanted member 4 | caller's member 4 | nonce 32
 *   challenge  magic 8 | version 4 | goes on 1 | reason: length 2, UTF-8 | nonce 32 | count 1 | proof 32 ...
 *   answer     proof 32 | facts
 *   reply      magic 8 | version 4 | accepted 1 | reason: length 2, UTF-8 | proof 32 | facts
 * </pre>
 *
 * A challenge has a proof with each secret of the called one; answer and reply are proven with the first of them that
 * the caller has, too. A challenge or reply that refuses ends behind its reason. What is proven names both members,
 * both nonces, the direction, and all facts that come with it, so a proof is of no use on any other connection. Over
 * TLS it names the certificate of the called one as well, and has labels of its own: what one end of TLS was told
 * cannot be passed on through another.
 */
final class ProvenHandshake {
    static final int NONCE_BYTES = 32;
    static final int PROOF_BYTES = 32;

    /** What proofs are bound to without TLS. */
    static final byte[] UNBOUND = {};

    private static final String PLAIN = "conclave peer 3: ";
    private static final String TLS = "conclave peer 3 over TLS: ";
    private static final String CHALLENGE = "the called member has the secret";
    private static final String ANSWER = "the calling member has the secret";
    private static final String REPLY = "the called member takes the calling one";

    /** What the caller says first. */
    record Hello(int wanted, int caller, byte[] nonce) {}

    private ProvenHandshake() {}

    /**
     * What the two ends of a connection have said before anything is proven.
     *
     * @param caller the member that has made the connection, as it says
     * @param called the member that the caller wants
     * @param binding a hash of the certificate of the called one, or {@link #UNBOUND}
     */
    record Exchange(int caller, int called, byte[] callersNonce, byte[] calledNonce, byte[] binding) {

        private byte[] text(String label, byte[] facts) {
            ByteBuf text = Unpooled.buffer();
            text.writeCharSequence((binding.length == 0 ? PLAIN : TLS) + label, StandardCharsets.US_ASCII);
            text.writeInt(caller).writeInt(called);
            text.writeBytes(callersNonce)
                    .writeBytes(calledNonce)
                    .writeBytes(binding)
                    .writeBytes(facts);
            return ByteBufUtil.getBytes(text);
        }

        byte[] challengeText() {
            return text(CHALLENGE, new byte[0]);
        }

        byte[] answerText(PeerFacts callers) {
            return text(ANSWER, bytesOf(callers));
        }

        byte[] replyText(PeerFacts callers, PeerFacts called) {
            ByteBuf facts = Unpooled.buffer();
            PeerHandshake.writeFacts(facts, callers);
            PeerHandshake.writeFacts(facts, called);
            return text(REPLY, ByteBufUtil.getBytes(facts));
        }

        private static byte[] bytesOf(PeerFacts facts) {
            ByteBuf bytes = Unpooled.buffer();
            PeerHandshake.writeFacts(bytes, facts);
            return ByteBufUtil.getBytes(bytes);
        }
    }

    static void writeHello(ByteBuf out, Hello hello) {
        PeerHandshake.writeVersion(out, PeerHandshake.PROVEN);
        out.writeInt(hello.wanted()).writeInt(hello.caller()).writeBytes(hello.nonce());
    }

    /** Ends the frame, whose version has been read. */
    static Hello readHello(ByteBuf frame) {
        PeerHandshake.requireBytes(frame, 2 * Integer.BYTES);
        Hello hello = new Hello(frame.readInt(), frame.readInt(), PeerHandshake.readBytes(frame, NONCE_BYTES));
        PeerHandshake.requireEnd(frame);
        PeerHandshake.requireMember(hello.caller());
        return hello;
    }

    static void writeChallenge(ByteBuf out, PeerSecrets secrets, Exchange exchange) {
        PeerHandshake.writeOutcome(out, PeerHandshake.PROVEN, true, "");
        out.writeBytes(exchange.calledNonce()).writeByte(secrets.size());
        for (int i = 0; i < secrets.size(); i++) {
            out.writeBytes(secrets.proof(i, exchange.challengeText()));
        }
    }

    static byte[] readNonce(ByteBuf frame) {
        return PeerHandshake.readBytes(frame, NONCE_BYTES);
    }

    /** The proofs in a challenge, behind its nonce. Ends the frame. */
    static List<byte[]> readProofs(ByteBuf frame) {
        PeerHandshake.requireBytes(frame, 1);
        int count = frame.readByte();
        if (count < 1 || count > PeerSecrets.MOST_SECRETS) {
            throw new MalformedMessageException(count + " proofs in a handshake");
        }
        List<byte[]> proofs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            proofs.add(readProof(frame));
        }
        PeerHandshake.requireEnd(frame);
        return proofs;
    }

    static void writeAnswer(ByteBuf out, byte[] proof, PeerFacts facts) {
        PeerHandshake.writeFacts(out.writeBytes(proof), facts);
    }

    static byte[] readProof(ByteBuf frame) {
        return PeerHandshake.readBytes(frame, PROOF_BYTES);
    }

    static void writeReply(ByteBuf out, byte[] proof, PeerFacts facts) {
        PeerHandshake.writeOutcome(out, PeerHandshake.PROVEN, true, "");
        PeerHandshake.writeFacts(out.writeBytes(proof), facts);
    }
}
