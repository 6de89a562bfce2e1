package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.session.Authentication;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.security.sasl.SaslException;
import org.jspecify.annotations.Nullable;

/**
 * Proves by SASL who the client is, before anything else goes over a connection. Logins and tokens are made on threads
 * of their own, since Kerberos blocks. Owned by the session's event loop.
 */
final class SaslHandshake {
    private static final int THREADS = 4;
    private static final int IDLE_S = 10;
    private static final Executor BLOCKING = threads();

    private final SessionParts parts;
    private final ServerReports reports;
    private final Authentication authentication;

    SaslHandshake(SessionParts parts, ServerReports reports, Authentication authentication) {
        this.parts = parts;
        this.reports = reports;
        this.authentication = authentication;
    }

    private static Executor threads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_S,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory("conclave-client-sasl", true));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Begins; the action runs on the loop when the server has taken the proof, and never if the connection ends. */
    void begin(Connection opened, String host, Runnable proved) {
        BLOCKING.execute(() -> {
            try {
                SaslProof proof = SaslProof.begin(authentication, host);
                byte[] token = proof.first();
                onLoop(opened, () -> send(opened, proof, token, proved));
            } catch (SaslException | RuntimeException e) {
                fail(opened, e);
            }
        });
    }

    private void onLoop(Connection opened, Runnable action) {
        parts.loop().execute(() -> {
            if (parts.link().is(opened) && !opened.isShut()) {
                action.run();
            }
        });
    }

    private void fail(Connection opened, Exception e) {
        String cause = e.getCause() == null ? "" : " (" + e.getCause().getMessage() + ")";
        onLoop(opened, () -> opened.shut("SASL has failed: " + e.getMessage() + cause));
    }

    private void send(Connection opened, SaslProof proof, byte[] token, Runnable proved) {
        opened.send(new Step(opened, proof, token, proved));
        opened.flush();
    }

    private void answered(Connection opened, SaslProof proof, byte @Nullable [] token, Runnable proved) {
        BLOCKING.execute(() -> {
            try {
                if (proof.isComplete()) {
                    onLoop(opened, proved);
                } else if (token == null) {
                    onLoop(opened, () -> reports.onRejected(Authentication.SASL, "it offers no SASL"));
                } else {
                    byte[] next = proof.next(token);
                    if (next != null) {
                        onLoop(opened, () -> send(opened, proof, next, proved));
                    } else if (proof.isComplete()) {
                        onLoop(opened, proved);
                    } else {
                        throw new SaslException("the mechanism has no answer to the server's token");
                    }
                }
            } catch (SaslException | RuntimeException e) {
                fail(opened, e);
            }
        });
    }

    /** A token, and the server's answer to it. */
    private final class Step extends Exchange {
        private final Connection opened;
        private final SaslProof proof;
        private final byte[] token;
        private final Runnable proved;

        Step(Connection opened, SaslProof proof, byte[] token, Runnable proved) {
            this.opened = opened;
            this.proof = proof;
            this.token = token;
            this.proved = proved;
        }

        @Override
        String describe() {
            return "a step of SASL";
        }

        @Override
        Optional<RequestBody> body() {
            return Optional.of(new ConnectionRequest.Sasl(token));
        }

        @Override
        boolean isBehindWatches() {
            return false;
        }

        @Override
        void answered(ReplyHeader header, JuteReader in) {
            if (header.err() != ErrorCode.OK.code()) {
                reports.onRejected(Authentication.SASL, ErrorCode.describe(header.err()));
            } else if (ReplyBody.decode(OpCode.SASL, in) instanceof ReplyBody.Sasl reply) {
                SaslHandshake.this.answered(opened, proof, reply.token(), proved);
            }
        }

        @Override
        void failed(ConclaveException failure) {
            // The connection has ended; the next one makes a new handshake.
        }
    }
}
