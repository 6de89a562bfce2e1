package io.conclave.consensus.peer;

import io.conclave.consensus.JoinToken;
import io.netty.buffer.ByteBuf;

/**
 * The frames in which a server that has a join token is given the cluster's secret, at the port of the members.
 *
 * <pre>
 *   hello      magic 8 | version 4 | wanted member 4 | caller's member 4 | token id 8 | public key 44
 *   challenge  magic 8 | version 4 | goes on 1 | reason: length 2, UTF-8 | public key 44 | proof 32
 *   answer     proof 32
 *   reply      magic 8 | version 4 | accepted 1 | reason: length 2, UTF-8 | sealed secrets
 * </pre>
 *
 * A challenge or reply that refuses ends behind its reason. {@link JoinExchange} has what is proven and how the secrets
 * are sealed.
 */
final class JoinHandshake {
    /** In place of the version of a handshake, so that an earlier member says that it does not know it. */
    static final int VERSION = 100;

    /** What the caller says first. */
    record Hello(int wanted, int caller, long tokenId, byte[] key) {}

    private JoinHandshake() {}

    static void writeHello(ByteBuf out, Hello hello) {
        PeerHandshake.writeVersion(out, VERSION);
        out.writeInt(hello.wanted()).writeInt(hello.caller()).writeLong(hello.tokenId());
        out.writeBytes(hello.key());
    }

    /** Ends the frame, whose version has been read. */
    static Hello readHello(ByteBuf frame) {
        PeerHandshake.requireBytes(frame, 2 * Integer.BYTES + Long.BYTES);
        Hello hello = new Hello(
                frame.readInt(),
                frame.readInt(),
                frame.readLong(),
                PeerHandshake.readBytes(frame, JoinExchange.KEY_BYTES));
        PeerHandshake.requireEnd(frame);
        PeerHandshake.requireMember(hello.caller());
        return hello;
    }

    static void writeChallenge(ByteBuf out, JoinExchange exchange) {
        PeerHandshake.writeOutcome(out, VERSION, true, "");
        out.writeBytes(exchange.calledKey()).writeBytes(exchange.calledProof());
    }

    /**
     * Reads what follows the outcome in a challenge.
     *
     * @throws MalformedMessageException if the called one has not proven that it has the token
     */
    static JoinExchange readChallenge(ByteBuf frame, JoinToken token, Hello hello) {
        byte[] key = PeerHandshake.readBytes(frame, JoinExchange.KEY_BYTES);
        byte[] proof = readProof(frame);
        JoinExchange exchange = new JoinExchange(token, hello.wanted(), hello.caller(), hello.key(), key);
        if (!JoinExchange.isSame(proof, exchange.calledProof())) {
            throw new MalformedMessageException("it has not proven that it has made this join token");
        }
        return exchange;
    }

    /** Ends the frame. */
    static byte[] readProof(ByteBuf frame) {
        byte[] proof = PeerHandshake.readBytes(frame, JoinExchange.PROOF_BYTES);
        PeerHandshake.requireEnd(frame);
        return proof;
    }

    static void writeReply(ByteBuf out, byte[] sealed) {
        PeerHandshake.writeOutcome(out, VERSION, true, "");
        out.writeBytes(sealed);
    }

    static byte[] readSealed(ByteBuf frame) {
        return PeerHandshake.readBytes(frame, frame.readableBytes());
    }
}
