package io.conclave.consensus.peer;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.security.KeyPair;
import java.util.List;

/** Asks the member that has made a join token for the cluster's secret, for a server that has none. */
public final class JoinClient {
    private final int self;
    private final PeerTls tls;
    private final EnsembleMember member;
    private final JoinToken token;

    /** Whether the token was shown, so that a lost answer may have used it up. */
    private boolean shown;

    private JoinClient(int self, EnsembleMember member, PeerTls tls, JoinToken token) {
        this.tls = tls;
        this.self = self;
        this.member = member;
        this.token = token;
    }

    /**
     * The cluster's secrets, the present one first. Blocks for some seconds at most.
     *
     * @param self the number of the server that is to have them
     * @param member the one that has made the token
     * @throws LogException if it does not give them, or is not the one that has made the token; the message says
     *     whether the token may be used up
     */
    public static List<byte[]> fetch(int self, EnsembleMember member, PeerTls tls, JoinToken token) {
        JoinClient client = new JoinClient(self, member, tls, token);
        try {
            return client.ask();
        } catch (IOException | MalformedMessageException e) {
            throw new LogException(
                    client.failure(String.valueOf(e instanceof MalformedMessageException ? e.getMessage() : e)), e);
        }
    }

    private List<byte[]> ask() throws IOException {
        KeyPair keys = JoinExchange.newKeys();
        JoinHandshake.Hello hello = new JoinHandshake.Hello(
                member.id(), self, token.id(), keys.getPublic().getEncoded());
        try (Conversation with = Conversation.with(member, tls)) {
            with.say(out -> JoinHandshake.writeHello(out, hello));
            ByteBuf challenge = with.hear();
            requireAccepted(challenge);
            JoinExchange exchange = JoinHandshake.readChallenge(challenge, token, hello);
            shown = true;
            with.say(out -> out.writeBytes(exchange.callersProof()));
            ByteBuf reply = with.hear();
            requireAccepted(reply);
            return exchange.open(keys, JoinHandshake.readSealed(reply));
        }
    }

    private void requireAccepted(ByteBuf frame) {
        int version = PeerHandshake.readVersion(frame);
        PeerHandshake.Reply outcome = PeerHandshake.readReply(frame);
        if (!outcome.accepted()) {
            throw new LogException(failure(outcome.reason()));
        }
        if (version != JoinHandshake.VERSION) {
            throw new MalformedMessageException("it accepted in version " + version + ", which was not asked for");
        }
    }

    private String failure(String reason) {
        return "server " + member.id() + " at " + member.host() + ":" + member.peerPort()
                + " has not given the cluster's secret: " + reason
                + (shown ? ". The token may be used up: make another one with join-token" : "");
    }
}
