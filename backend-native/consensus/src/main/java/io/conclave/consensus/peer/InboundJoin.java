package io.conclave.consensus.peer;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.JoinTokens;
import io.netty.buffer.ByteBuf;
import java.security.KeyPair;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's attempt to be given the cluster's secret for a join token. Files and keys are looked at on background
 * threads, and all else happens on the network's.
 *
 * <pre>
 *   ASKED -> CHALLENGED -> PROVING -> over
 * </pre>
 */
final class InboundJoin {
    private static final Logger log = LoggerFactory.getLogger(InboundJoin.class);

    private final InboundLink link;
    private final PeerNetwork network;
    private final JoinTokens tokens;
    private final JoinHandshake.Hello hello;

    /** What was challenged and awaits its proof; null while this end is at work. */
    private @Nullable Challenge challenge;

    private record Challenge(JoinExchange exchange, KeyPair keys) {}

    InboundJoin(InboundLink link, PeerNetwork network, JoinHandshake.Hello hello) {
        this.link = link;
        this.network = network;
        this.tokens = network.joinTokens();
        this.hello = hello;
    }

    void begin() {
        work(() -> tokens.find(hello.tokenId()).map(this::challengeFor), found -> {
            if (found.isEmpty()) {
                refuse("member " + hello.wanted() + " knows no valid join token of this name: it was used, has expired,"
                        + " or was made by another server");
                return;
            }
            challenge = found.get();
            link.write(out -> JoinHandshake.writeChallenge(out, found.get().exchange()));
        });
    }

    private Challenge challengeFor(JoinToken token) {
        KeyPair keys = JoinExchange.newKeys();
        byte[] key = keys.getPublic().getEncoded();
        return new Challenge(new JoinExchange(token, hello.wanted(), hello.caller(), hello.key(), key), keys);
    }

    void arrived(ByteBuf frame) {
        Challenge open = challenge;
        if (open == null) {
            throw new MalformedMessageException("a frame where none was due");
        }
        challenge = null;
        byte[] proof = JoinHandshake.readProof(frame);
        work(() -> replyTo(open, proof), reply -> {
            if (reply.isEmpty()) {
                refuse("it has not proven that it has the join token, or that was used meanwhile");
                return;
            }
            log.info(
                    "gave the cluster's secret to a caller at {}, which is to be server {}, for {}",
                    link.remoteHost(),
                    hello.caller(),
                    open.exchange().token());
            link.write(out -> JoinHandshake.writeReply(out, reply.get()));
            link.settled("it was given the cluster's secret");
        });
    }

    private Optional<byte[]> replyTo(Challenge open, byte[] proof) {
        JoinExchange exchange = open.exchange();
        if (!JoinExchange.isSame(proof, exchange.callersProof())) {
            tokens.wrongProof(hello.tokenId());
            return Optional.empty();
        }
        Optional<List<byte[]>> secrets = tokens.redeem(hello.tokenId());
        return secrets.map(found -> exchange.seal(open.keys(), found));
    }

    /** Does the work on a background thread, and goes on with its outcome on the network's. */
    private <T> void work(Supplier<Optional<T>> job, Consumer<Optional<T>> next) {
        boolean taken = network.inBackground(() -> {
            Optional<T> done;
            try {
                done = job.get();
            } catch (RuntimeException | Error e) {
                log.warn("A caller at {} that has a join token cannot be answered", link.remoteHost(), e);
                done = Optional.empty();
            }
            Optional<T> outcome = done;
            network.execute(() -> {
                network.backgroundDone();
                next.accept(outcome);
            });
        });
        if (!taken) {
            refuse("too many servers show join tokens at once");
        }
    }

    private void refuse(String reason) {
        link.refuse(reason, JoinHandshake.VERSION);
    }
}
