package io.conclave.consensus.peer;

import io.conclave.consensus.PeerSecrets;
import io.netty.buffer.ByteBuf;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The caller's side of one {@link ProvenHandshake}: hello, challenge, answer, reply. */
final class CallersProof {
    private final PeerSecrets secrets;
    private final ProvenHandshake.Hello hello;
    private ProvenHandshake.@Nullable Exchange exchange;

    /** What this member has told about itself; null until it has answered the challenge. */
    private @Nullable PeerFacts told;

    /** Which secret both have. */
    private int secret = -1;

    CallersProof(PeerSecrets secrets, int to, int self, byte[] nonce) {
        this.secrets = secrets;
        this.hello = new ProvenHandshake.Hello(to, self, nonce);
    }

    void writeHello(ByteBuf out) {
        ProvenHandshake.writeHello(out, hello);
    }

    /**
     * Reads what follows the outcome in a challenge; whether the called one has a secret that this member has, too.
     *
     * @param binding of the connection
     */
    boolean knows(ByteBuf challenge, byte[] binding) {
        ProvenHandshake.Exchange begun = new ProvenHandshake.Exchange(
                hello.caller(), hello.wanted(), hello.nonce(), ProvenHandshake.readNonce(challenge), binding);
        exchange = begun;
        byte[] text = begun.challengeText();
        for (byte[] proof : ProvenHandshake.readProofs(challenge)) {
            if (secret < 0) {
                secret = secrets.provenBy(proof, text);
            }
        }
        return secret >= 0;
    }

    void writeAnswer(ByteBuf out, PeerFacts self) {
        told = self;
        ProvenHandshake.writeAnswer(out, secrets.proof(secret, exchange().answerText(self)), self);
    }

    boolean isAnswered() {
        return told != null;
    }

    /**
     * Reads what follows the outcome in a reply: what the called one tells about itself; empty if its proof is wrong.
     */
    Optional<PeerFacts> verify(ByteBuf reply) {
        byte[] proof = ProvenHandshake.readProof(reply);
        PeerFacts called = PeerHandshake.readFacts(reply);
        PeerFacts self = told;
        if (self == null) {
            throw new IllegalStateException("the challenge has not been answered");
        }
        return secrets.provenBy(proof, exchange().replyText(self, called)) == secret
                ? Optional.of(called)
                : Optional.empty();
    }

    private ProvenHandshake.Exchange exchange() {
        ProvenHandshake.Exchange begun = exchange;
        if (begun == null) {
            throw new IllegalStateException("there was no challenge");
        }
        return begun;
    }
}
