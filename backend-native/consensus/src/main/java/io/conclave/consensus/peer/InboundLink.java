package io.conclave.consensus.peer;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.netty.buffer.ByteBuf;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection made to this member: a stranger's until it is accepted, which comes behind its proof where one is
 * required. Belongs to the network's thread.
 *
 * <pre>
 *   STRANGER -> CHALLENGED -> ACCEPTED      a member without a secret goes from STRANGER to ACCEPTED
 * </pre>
 */
final class InboundLink implements FrameChannel.Owner {
    private final PeerNetwork network;
    private final PeerSecrets secrets;
    private final String remoteHost;
    private final FrameChannel frames;

    /** What was said before the proof that is awaited; null before that. */
    private ProvenHandshake.@Nullable Exchange exchange;

    /** The member at the other end; null until it is accepted. */
    private @Nullable PeerFacts facts;

    /** What it was told; null until it is accepted. */
    private @Nullable PeerFacts said;

    /** What was begun by a caller that is no member yet; null if there is nothing of the kind. */
    private @Nullable InboundJoin join;

    private boolean proven;
    private boolean settled;
    private int ticksAsStranger;

    InboundLink(PeerNetwork network, PeerSecrets secrets, String remoteHost, int maxFrameBytes) {
        this.network = network;
        this.secrets = secrets;
        this.remoteHost = remoteHost;
        this.frames = new FrameChannel(this, maxFrameBytes);
    }

    FrameChannel frames() {
        return frames;
    }

    String remoteHost() {
        return remoteHost;
    }

    Optional<PeerFacts> facts() {
        return Optional.ofNullable(facts);
    }

    /** Whether the member at the other end has proven that it has the cluster's secret. */
    boolean isProven() {
        return proven;
    }

    /** Whether it was refused, or was no link to be: its end is nothing to be told. */
    boolean isSettled() {
        return settled;
    }

    @Override
    public void opened() {
        network.opened(this);
    }

    @Override
    public void arrived(ByteBuf frame) {
        PeerFacts from = facts;
        if (from != null) {
            network.arrived(from, MessageCodec.read(frame));
        } else if (exchange != null) {
            verify(exchange, frame);
        } else if (join != null) {
            join.arrived(frame);
        } else {
            greet(frame);
        }
    }

    private void greet(ByteBuf frame) {
        int self = network.self().memberId();
        int version = PeerHandshake.readVersion(frame);
        if (version == PeerHandshake.PLAIN) {
            if (secrets.authentication() == PeerAuthentication.REQUIRED) {
                refuse(PeerHandshake.proofRequired(self));
            } else {
                takeUnproven(PeerHandshake.readHello(frame));
            }
        } else if (version == PeerHandshake.PROVEN) {
            if (secrets.authentication() == PeerAuthentication.NONE) {
                refuse(PeerHandshake.proofUnknown(self), PeerHandshake.PLAIN);
            } else {
                challenge(self, ProvenHandshake.readHello(frame));
            }
        } else if (version == JoinHandshake.VERSION) {
            join(self, JoinHandshake.readHello(frame));
        } else {
            refuse(PeerHandshake.otherVersion(self, version));
        }
    }

    // ---- without a proof

    private void takeUnproven(PeerHandshake.Hello hello) {
        PeerFacts self = network.self();
        Optional<String> refusal = refusal(self, hello);
        refusal.ifPresent(reason -> {
            replyUnproven(self, new PeerHandshake.Reply(false, reason));
            refused(reason);
        });
        if (refusal.isEmpty()) {
            replyUnproven(self, new PeerHandshake.Reply(true, ""));
            accept(self, hello.facts());
        }
    }

    private void replyUnproven(PeerFacts self, PeerHandshake.Reply reply) {
        write(bytes -> PeerHandshake.writeReply(bytes, reply, self));
    }

    // ---- with proofs

    private void challenge(int self, ProvenHandshake.Hello hello) {
        Optional<String> refusal = PeerHandshake.refusal(self, hello.wanted(), hello.caller());
        if (refusal.isPresent()) {
            refuse(refusal.get());
            return;
        }
        ProvenHandshake.Exchange begun =
                new ProvenHandshake.Exchange(hello.caller(), self, hello.nonce(), network.newNonce(), frames.binding());
        exchange = begun;
        write(bytes -> ProvenHandshake.writeChallenge(bytes, secrets, begun));
    }

    private void verify(ProvenHandshake.Exchange begun, ByteBuf answer) {
        byte[] proof = ProvenHandshake.readProof(answer);
        PeerFacts caller = PeerHandshake.readFacts(answer);
        int secret = secrets.provenBy(proof, begun.answerText(caller));
        if (secret < 0 || caller.memberId() != begun.caller()) {
            refuse(PeerHandshake.wrongProof(begun.called(), begun.caller()));
            return;
        }
        proven = true;
        PeerFacts self = network.self();
        Optional<String> refusal = refusal(self, new PeerHandshake.Hello(begun.called(), caller));
        if (refusal.isPresent()) {
            refuse(refusal.get());
            return;
        }
        byte[] ownProof = secrets.proof(secret, begun.replyText(caller, self));
        write(bytes -> ProvenHandshake.writeReply(bytes, ownProof, self));
        accept(self, caller);
    }

    private void join(int self, JoinHandshake.Hello hello) {
        Optional<String> refusal = PeerHandshake.refusal(self, hello.wanted(), hello.caller());
        if (refusal.isPresent()) {
            refuse(refusal.get(), JoinHandshake.VERSION);
            return;
        }
        InboundJoin begun = new InboundJoin(this, network, hello);
        join = begun;
        begun.begin();
    }

    // ---- the outcome

    private Optional<String> refusal(PeerFacts self, PeerHandshake.Hello hello) {
        return PeerHandshake.refusal(self, hello)
                .or(() -> refusalForCertificate(hello.facts().memberId()))
                .or(() -> network.refusalForLevel(hello.facts()))
                .or(() -> network.refusalForOlder(this, hello.facts()));
    }

    /** The certificate must be for the host of that very member, so one member's is of no use to another. */
    private Optional<String> refusalForCertificate(int caller) {
        Optional<X509Certificate> shown = frames.tls().flatMap(LinkTls::peerCertificate);
        if (shown.isEmpty() || !network.tls().verifiesCallers()) {
            return Optional.empty();
        }
        CertificateNames names = new CertificateNames(shown.get());
        String host = network.hostOf(caller);
        if (host.isEmpty()) {
            return Optional.of(
                    "member " + caller + " is not listed here, so its host is not known, and its certificate " + names
                            + " cannot be compared with it");
        }
        return names.include(host)
                ? Optional.empty()
                : Optional.of("member " + caller + " is at host " + host + ", but the caller has the certificate "
                        + names + " (ssl.quorum.clientHostnameVerification)");
    }

    /** The caller speaks TLS and this member does not, or the other way round. */
    void refuseForm(boolean speaksTls) {
        if (speaksTls) {
            refused("the caller speaks TLS, and this member does not (sslQuorum and portUnification are not set)");
        } else {
            refuse("member " + network.self().memberId() + " takes only members that speak TLS (sslQuorum=true)");
        }
    }

    private void accept(PeerFacts self, PeerFacts caller) {
        facts = caller;
        said = self;
        frames.greeted();
        network.accepted(this, caller.memberId());
    }

    private void refuse(String reason) {
        refuse(reason, PeerHandshake.PROVEN);
    }

    /** Tells nothing but the reason. */
    void refuse(String reason, int version) {
        write(bytes -> PeerHandshake.writeOutcome(bytes, version, false, reason));
        refused(reason);
    }

    /** Sends a frame of a handshake. */
    void write(Consumer<ByteBuf> frame) {
        frames.write(frame, PeerHandshake.MAX_FRAME_BYTES);
        frames.flush();
    }

    /** The caller has what it came for, and is no member. */
    void settled(String outcome) {
        settled = true;
        frames.close(outcome);
    }

    private void refused(String reason) {
        settled = true;
        network.refused(this, reason);
        frames.close(reason);
    }

    // ---- life

    /** Half an election timeout has passed. A stranger's time is counted from its first moment, whatever it sends. */
    void tick() {
        if (facts == null && ++ticksAsStranger > FrameChannel.SILENT_TICKS) {
            frames.close("its handshake was not complete after three election timeouts");
            return;
        }
        frames.tick();
    }

    /** This member says something else about itself now: a member that was told otherwise has to come again. */
    void identified(PeerFacts self) {
        PeerFacts old = said;
        if (old != null && !old.equals(self)) {
            frames.close("this member has told something else about itself than it would now: " + self);
        }
    }

    @Override
    public void lackedMemory() {
        network.lackedMemory();
    }

    @Override
    public void ended(String reason) {
        network.ended(
                this,
                exchange == null || facts != null
                        ? reason
                        : reason + ", before member " + exchange.caller() + " had proven that it has the cluster's"
                                + " secret; compare the secret files if it stays so");
    }
}
