package io.conclave.consensus.peer;

import io.conclave.tls.Reasons;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;

/**
 * The first frame of each direction, of members without a secret. The caller names itself and the member it wants; the
 * called one accepts, or refuses with the reason in words. Members that have a secret use {@link ProvenHandshake}.
 *
 * <pre>
 *   hello  magic 8 | version 4 | wanted member 4 | facts
 *   reply  magic 8 | version 4 | accepted 1 | reason: length 2, UTF-8 | facts
 *   facts  cluster id 16 | member id 4 | directory 8 | feature level 4 | client host: length 2, UTF-8
 *          | client port 4 | observer 1
 * </pre>
 *
 * Every version keeps the layout up to the version in a hello and up to the reason in a reply, so that each can tell
 * the other why not.
 */
final class PeerHandshake {
    /** Of the handshake in which nothing is proven, and of the frames and the messages behind it. */
    static final int PLAIN = 2;

    /** Of {@link ProvenHandshake}; frames and messages behind it are the same. */
    static final int PROVEN = 3;

    static final int MAX_FRAME_BYTES = 2048;
    private static final int MAX_REASON_BYTES = 1024;
    private static final long MAGIC = 0x434e434c50454552L; // CNCLPEER

    /** What the caller says. */
    record Hello(int wanted, PeerFacts facts) {}

    /** What is answered; the reason is empty if accepted. */
    record Reply(boolean accepted, String reason) {}

    private PeerHandshake() {}

    static void writeHello(ByteBuf out, Hello hello) {
        writeVersion(out, PLAIN);
        writeFacts(out.writeInt(hello.wanted()), hello.facts());
    }

    static void writeReply(ByteBuf out, Reply reply, PeerFacts facts) {
        writeOutcome(out, PLAIN, reply.accepted(), reply.reason());
        writeFacts(out, facts);
    }

    static void writeVersion(ByteBuf out, int version) {
        out.writeLong(MAGIC).writeInt(version);
    }

    /** What a frame of the called one begins with, in all versions. A refusal may end with it. */
    static void writeOutcome(ByteBuf out, int version, boolean accepted, String reason) {
        writeVersion(out, version);
        out.writeBoolean(accepted);
        writeText(out, reason, MAX_REASON_BYTES);
    }

    /** The first thing to read of either frame. */
    static int readVersion(ByteBuf frame) {
        if (frame.readableBytes() < Long.BYTES + Integer.BYTES || frame.readLong() != MAGIC) {
            throw new MalformedMessageException("what comes is not the protocol of members");
        }
        return frame.readInt();
    }

    static Hello readHello(ByteBuf frame) {
        requireBytes(frame, Integer.BYTES);
        int wanted = frame.readInt();
        return new Hello(wanted, readFacts(frame));
    }

    static Reply readReply(ByteBuf frame) {
        requireBytes(frame, 1);
        byte accepted = frame.readByte();
        if (accepted != 0 && accepted != 1) {
            throw new MalformedMessageException("a flag of " + accepted + " in a handshake");
        }
        return new Reply(accepted == 1, Reasons.printable(readText(frame, MAX_REASON_BYTES)));
    }

    static void writeFacts(ByteBuf out, PeerFacts facts) {
        out.writeLong(facts.clusterId().getMostSignificantBits());
        out.writeLong(facts.clusterId().getLeastSignificantBits());
        out.writeInt(facts.memberId()).writeLong(facts.directory()).writeInt(facts.featureLevel());
        writeText(out, facts.clientHost(), PeerFacts.MAX_HOST_BYTES);
        out.writeInt(facts.clientPort()).writeBoolean(facts.observer());
    }

    /** Ends the frame. */
    static PeerFacts readFacts(ByteBuf frame) {
        requireBytes(frame, 16 + 4 + 8 + 4);
        UUID clusterId = new UUID(frame.readLong(), frame.readLong());
        int memberId = frame.readInt();
        long directory = frame.readLong();
        int featureLevel = frame.readInt();
        String clientHost = readText(frame, PeerFacts.MAX_HOST_BYTES);
        requireBytes(frame, Integer.BYTES + 1);
        int clientPort = frame.readInt();
        boolean observer = frame.readByte() != 0;
        requireEnd(frame);
        try {
            return new PeerFacts(clusterId, memberId, directory, featureLevel, clientHost, clientPort, observer);
        } catch (IllegalArgumentException e) {
            throw new MalformedMessageException("a handshake says: " + e.getMessage());
        }
    }

    private static void writeText(ByteBuf out, String text, int maxBytes) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, maxBytes);
        out.writeShort(length).writeBytes(bytes, 0, length);
    }

    private static String readText(ByteBuf in, int maxBytes) {
        requireBytes(in, Short.BYTES);
        int length = in.readUnsignedShort();
        if (length > maxBytes) {
            throw new MalformedMessageException("a text of " + length + " bytes in a handshake");
        }
        requireBytes(in, length);
        return new String(ByteBufUtil.getBytes(in.readSlice(length)), StandardCharsets.UTF_8);
    }

    static void requireEnd(ByteBuf frame) {
        if (frame.isReadable()) {
            throw new MalformedMessageException(frame.readableBytes() + " bytes are left behind a handshake");
        }
    }

    static void requireBytes(ByteBuf in, int count) {
        if (in.readableBytes() < count) {
            throw new MalformedMessageException("a handshake ends in its middle");
        }
    }

    static byte[] readBytes(ByteBuf frame, int count) {
        requireBytes(frame, count);
        byte[] bytes = new byte[count];
        frame.readBytes(bytes);
        return bytes;
    }

    static void requireMember(int caller) {
        if (caller < 1 || caller > PeerFacts.MAX_MEMBER_ID) {
            throw new MalformedMessageException("a handshake of member " + caller);
        }
    }

    // ---- why not

    /** Why the called one does not go on with a caller that has proven nothing yet; tells nothing about itself. */
    static Optional<String> refusal(int self, int wanted, int caller) {
        if (wanted != self) {
            return Optional.of("member " + caller + " looks for member " + wanted + ", but here is member " + self);
        }
        return caller == self ? Optional.of("two servers are called member " + self) : Optional.empty();
    }

    /** Why the called one does not take the caller. */
    static Optional<String> refusal(PeerFacts self, Hello hello) {
        PeerFacts caller = hello.facts();
        if (hello.wanted() == self.memberId() && caller.memberId() == self.memberId()) {
            return Optional.of("two servers are called member " + self.memberId() + ", with the directories "
                    + directory(caller) + " and " + directory(self));
        }
        return refusal(self.memberId(), hello.wanted(), caller.memberId()).or(() -> otherCluster(self, caller));
    }

    /** Why the caller does not accept the member that has answered. */
    static Optional<String> refusal(PeerFacts self, int wanted, PeerFacts called) {
        if (called.memberId() != wanted) {
            return Optional.of("member " + wanted + " is expected there, but member " + called.memberId() + " answers");
        }
        return otherCluster(self, called);
    }

    /** Why the called one does not take a caller of a version that it does not know. */
    static String otherVersion(int self, int version) {
        return "member " + self + " speaks versions " + PLAIN + " and " + PROVEN
                + " of the protocol of members, the caller version " + version;
    }

    /** Why the called one does not take a caller that proves nothing. */
    static String proofRequired(int self) {
        return "member " + self + " takes only members that prove that they have the cluster's secret; give the caller"
                + " the secret file of this cluster, or see peerAuthentication";
    }

    /** Why the called one does not take a caller that wants to prove something. */
    static String proofUnknown(int self) {
        return "member " + self + " has no cluster secret (peerAuthentication=none), the caller has one";
    }

    /** Why the called one does not take a caller whose proof is wrong. */
    static String wrongProof(int self, int caller) {
        return "member " + caller + " has not proven that it has the cluster secret of member " + self
                + "; compare their secret files";
    }

    private static Optional<String> otherCluster(PeerFacts self, PeerFacts other) {
        return self.isCompatible(other)
                ? Optional.empty()
                : Optional.of("member " + other.memberId() + " belongs to cluster " + other.clusterId() + ", member "
                        + self.memberId() + " to cluster " + self.clusterId());
    }

    static String directory(PeerFacts facts) {
        return Long.toHexString(facts.directory());
    }
}
