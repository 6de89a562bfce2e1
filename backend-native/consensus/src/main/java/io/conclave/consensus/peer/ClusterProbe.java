package io.conclave.consensus.peer;

import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a running member, by a handshake and nothing else, to which cluster it belongs. */
public final class ClusterProbe {
    private static final Logger log = LoggerFactory.getLogger(ClusterProbe.class);

    private final PeerTls tls;
    private final EnsembleMember member;
    private final PeerSecrets secrets;
    private final PeerFacts facts;

    private ClusterProbe(int self, EnsembleMember member, PeerSecrets secrets, PeerTls tls) {
        this.tls = tls;
        this.member = member;
        this.secrets = secrets;
        // nothing is applied here, so no level is too high
        this.facts = new PeerFacts(PeerFacts.NO_CLUSTER, self, 0, Integer.MAX_VALUE, "", 0, false);
    }

    /**
     * The cluster of the member; empty if it has none, or does not answer. Blocks for some seconds at most.
     *
     * @throws LogException if it runs, and does not tell since it does not take this server for a member
     */
    public static Optional<UUID> clusterOf(int self, EnsembleMember member, PeerSecrets secrets, PeerTls tls) {
        ClusterProbe probe = new ClusterProbe(self, member, secrets, tls);
        try {
            Optional<PeerFacts> called = secrets.size() == 0 ? Optional.empty() : probe.askWithProof();
            return (called.isPresent() ? called.get() : probe.askWithoutProof()).cluster();
        } catch (Conversation.TlsRefusedException e) {
            throw probe.refused(String.valueOf(e.getMessage()));
        } catch (IOException | MalformedMessageException e) {
            log.info("server {} does not say to which cluster it belongs: {}", member.id(), e.toString());
            return Optional.empty();
        }
    }

    private PeerFacts askWithoutProof() throws IOException {
        try (Conversation with = Conversation.with(member, tls)) {
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
        try (Conversation with = Conversation.with(member, tls)) {
            with.say(proof::writeHello);
            ByteBuf challenge = with.hear();
            if (PeerHandshake.readVersion(challenge) == PeerHandshake.PLAIN) {
                return Optional.empty();
            }
            requireAccepted(challenge);
            if (!proof.knows(challenge, with.binding())) {
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
}
