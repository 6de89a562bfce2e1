package io.conclave.connection;

import io.conclave.node.Bytes;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.tree.IdScheme;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The SASL exchange of one connection, on which nothing else is read while a step of it is under way. A connection has
 * one exchange. Belongs to the connection's loop.
 */
final class SaslRequests {
    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private final ClientSecurity security;
    private final LimitGuard guard;
    private final Authenticator authenticator;
    private SaslService.@Nullable Exchange exchange;
    private boolean over;
    private boolean busy;
    private int steps;

    SaslRequests(
            ClientConnection connection,
            RequestPipeline pipeline,
            ClientSecurity security,
            LimitGuard guard,
            Authenticator authenticator) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.security = security;
        this.guard = guard;
        this.authenticator = authenticator;
    }

    /** Whether a step is under way: until it is answered, nothing else is read from the connection. */
    boolean isBusy() {
        return busy;
    }

    void handle(int xid, ConnectionRequest.Sasl request) {
        Step step = new Step(xid);
        if (security.sasl().isEmpty()) {
            step.settle(new SaslService.Outcome(false, Optional.empty(), List.of()));
            pipeline.submit(step);
            return;
        }
        if (!security.offersSchemes().getAsBoolean()) {
            // an error would be final for its client; it tries again, and by then the level may be in force
            connection.close("ids of sasl are not in force yet: a member is of an earlier version");
            return;
        }
        busy = true;
        pipeline.submit(step);
        byte[] token = request.token() == null ? new byte[0] : request.token();
        steps++;
        if (over || !isAllowed(token)) {
            step.settle(SaslService.Outcome.FAILED);
            connection.resume();
            return;
        }
        SaslService.Exchange present = exchange;
        if (present == null) {
            present = security.sasl().get().begin(connection.toString());
            exchange = present;
            pipeline.whenCleared(present::end);
        }
        present.step(token, outcome -> connection.loop().post(() -> {
            step.settle(outcome);
            connection.resume();
        }));
    }

    private boolean isAllowed(byte[] token) {
        if (!guard.allows(ClientLimit.SASL_TOKEN_BYTES, token.length)) {
            guard.refused(
                    ClientLimit.SASL_TOKEN_BYTES,
                    "a SASL token of " + connection + ": it has " + token.length + " bytes");
            return false;
        }
        if (!guard.allows(ClientLimit.SASL_STEPS, steps)) {
            guard.refused(ClientLimit.SASL_STEPS, "a SASL token of " + connection + ": it is number " + steps);
            return false;
        }
        return true;
    }

    /** A token, and its answer in its turn. */
    private final class Step implements PendingAnswer {
        private final int xid;
        private SaslService.@Nullable Outcome outcome;

        Step(int xid) {
            this.xid = xid;
        }

        void settle(SaslService.Outcome known) {
            outcome = known;
        }

        @Override
        public boolean isReady() {
            return outcome != null;
        }

        @Override
        public void answer() {
            busy = false;
            SaslService.Outcome known = outcome == null ? SaslService.Outcome.FAILED : outcome;
            over |= known.failed() || !known.proved().isEmpty();
            if (known.failed() || !authenticator.add(known.proved())) {
                refuse();
            } else {
                reply(ErrorCode.OK, known.answer().map(Bytes::toArray).orElse(null));
            }
        }

        /** As ZooKeeper does it; without SASL the client may go on if it is told so. */
        private void refuse() {
            boolean needed = security.enforcedSchemes().contains(IdScheme.SASL.word());
            if (security.keepsSaslFailed() && !needed) {
                reply(ErrorCode.OK, null);
                return;
            }
            reply(needed ? ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH : ErrorCode.AUTH_FAILED, null);
            connection.closeAfterOutput();
        }

        private void reply(ErrorCode error, byte @Nullable [] token) {
            connection.write(new ReplyHeader(xid, 0, error.code()), new ReplyBody.Sasl(token));
        }
    }
}
