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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.security.sasl.SaslException;
import org.jspecify.annotations.Nullable;

/**
 * Proves by SASL who the client is, before anything else goes over a connection. Logins and tokens are made on threads
 * of their own, since Kerberos blocks. A session has one such thread at a time, so a login that hangs holds up no other
 * session; when it returns, the connection of then logs in, if there is one. Owned by the session's event loop.
 */
final class SaslHandshake {
    private static final int MOST_THREADS = 500; // a lost session may leave one behind
    private static final int IDLE_S = 10;
    private static final Executor THREADS = new ThreadPoolExecutor(
            0,
            MOST_THREADS,
            IDLE_S,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new DefaultThreadFactory("conclave-client-sasl", true));

    private final SessionParts parts;
    private final ServerReports reports;
    private final Authentication authentication;
    private boolean working; // on a thread
    private @Nullable Runnable waiting; // until that is done

    /** What may block. */
    private interface Work {
        void run() throws SaslException;
    }

    SaslHandshake(SessionParts parts, ServerReports reports, Authentication authentication) {
        this.parts = parts;
        this.reports = reports;
        this.authentication = authentication;
    }

    /** Begins; the action runs on the loop when the server has taken the proof, and never if the connection ends. */
    void begin(Connection opened, String host, Runnable proved) {
        work(opened, () -> {
            SaslProof proof = SaslProof.begin(authentication, host);
            byte[] token = proof.first();
            onLoop(opened, () -> send(opened, proof, token, proved));
        });
    }

    /**
     * Does it on a thread, now or when the one that works is done. What waited for that before was of a connection that
     * has ended, and is dropped.
     */
    private void work(Connection opened, Work work) {
        if (working) {
            waiting = () -> work(opened, work);
        } else if (isOpen(opened)) {
            try {
                THREADS.execute(() -> run(opened, work));
                working = true;
            } catch (RejectedExecutionException e) {
                opened.fail("SASL has failed: " + MOST_THREADS + " logins do not end", e);
            }
        }
    }

    private void run(Connection opened, Work work) {
        try {
            work.run();
        } catch (SaslException | RuntimeException e) {
            fail(opened, e);
        } finally {
            parts.loop().execute(this::workEnded);
        }
    }

    private void workEnded() {
        working = false;
        Runnable next = waiting;
        waiting = null;
        if (next != null) {
            next.run();
        }
    }

    private boolean isOpen(Connection opened) {
        return parts.link().is(opened) && !opened.isShut();
    }

    private void onLoop(Connection opened, Runnable action) {
        parts.loop().execute(() -> {
            if (isOpen(opened)) {
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
        work(opened, () -> {
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
