package io.conclave.consensus.peer;

import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a running member, by a handshake and nothing else, to which cluster it belongs. */
public final class ClusterProbe {
    private static final Logger log = LoggerFactory.getLogger(ClusterProbe.class);
    private static final int TIMEOUT_MS = 2_000;

    private final EnsembleMember member;
    private final PeerSecrets secrets;
    private final PeerFacts facts;

    private ClusterProbe(int self, EnsembleMember member, PeerSecrets secrets) {
        this.member = member;
        this.secrets = secrets;
        this.facts = new PeerFacts(PeerFacts.NO_CLUSTER, self, 0, 0, "", 0, false);
    }

    /**
     * The cluster of the member; empty if it has none, or does not answer. Blocks for some seconds at most.
     *
     * @throws LogException if it runs, and does not tell since it does not take this server for a member
     */
    public static Optional<UUID> clusterOf(int self, EnsembleMember member, PeerSecrets secrets) {
        ClusterProbe probe = new ClusterProbe(self, member, secrets);
        try {
            Optional<PeerFacts> called = secrets.size() == 0 ? Optional.empty() : probe.askWithProof();
            return (called.isPresent() ? called.get() : probe.askWithoutProof()).cluster();
        } catch (IOException | MalformedMessageException e) {
            log.info("server {} does not say to which cluster it belongs: {}", member.id(), e.toString());
            return Optional.empty();
        }
    }

    private PeerFacts askWithoutProof() throws IOException {
        try (Conversation with = new Conversation()) {
            with.say(out -> PeerHandshake.writeHello(out, new PeerHandshake.Hello(member.id(), facts)));
            ByteBuf reply = with.hear();
            int version = PeerHandshake.readVersion(reply);
            PeerHandshake.Reply outcome = PeerHandshake.readReply(reply);
            if (version != PeerHandshake.PLAIN) {
                throw refused(outcome.reason());
            }
            return PeerHandshake.readFacts(reply);
        }
    }

    /** Empty if the member has no secret. */
    private Optional<PeerFacts> askWithProof() throws IOException {
        byte[] nonce = new byte[ProvenHandshake.NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        CallersProof proof = new CallersProof(secrets, member.id(), facts.memberId(), nonce);
        try (Conversation with = new Conversation()) {
            with.say(proof::writeHello);
            ByteBuf challenge = with.hear();
            if (PeerHandshake.readVersion(challenge) == PeerHandshake.PLAIN) {
                return Optional.empty();
            }
            requireAccepted(challenge);
            if (!proof.knows(challenge)) {
                throw refused("it has another cluster secret than this server");
            }
            with.say(out -> proof.writeAnswer(out, facts));
            ByteBuf reply = with.hear();
            PeerHandshake.readVersion(reply);
            requireAccepted(reply);
            return Optional.of(proof.verify(reply).orElseThrow(() -> refused("its last proof is wrong")));
        }
    }

    private void requireAccepted(ByteBuf frame) {
        PeerHandshake.Reply outcome = PeerHandshake.readReply(frame);
        if (!outcome.accepted()) {
            throw refused(outcome.reason());
        }
    }

    private LogException refused(String reason) {
        return new LogException("server " + member.id() + " at " + member.host() + ":" + member.peerPort()
                + " runs, and does not say to which cluster it belongs: " + reason);
    }

    /** Frames there and back. */
    private final class Conversation implements AutoCloseable {
        private final Socket socket = new Socket();
        private final DataInputStream in;

        Conversation() throws IOException {
            try {
                socket.connect(new InetSocketAddress(member.host(), member.peerPort()), TIMEOUT_MS);
                socket.setSoTimeout(TIMEOUT_MS);
                in = new DataInputStream(socket.getInputStream());
            } catch (IOException | RuntimeException e) {
                socket.close();
                throw e instanceof IOException failed ? failed : new IOException(e);
            }
        }

        void say(Consumer<ByteBuf> payload) throws IOException {
            ByteBuf out = Unpooled.buffer().writeInt(0);
            payload.accept(out);
            out.setInt(0, out.readableBytes() - Integer.BYTES);
            socket.getOutputStream().write(ByteBufUtil.getBytes(out));
        }

        /** The next frame that is no keepalive. */
        ByteBuf hear() throws IOException {
            int length = in.readInt();
            while (length == 0) {
                length = in.readInt();
            }
            if (length < 0 || length > PeerHandshake.MAX_FRAME_BYTES) {
                throw new IOException("a frame of " + length + " bytes came in place of a handshake");
            }
            byte[] frame = new byte[length];
            in.readFully(frame);
            return Unpooled.wrappedBuffer(frame);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
