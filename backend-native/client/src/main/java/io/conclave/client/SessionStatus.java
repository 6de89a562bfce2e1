package io.conclave.client;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.session.SessionState;
import io.conclave.spi.SessionListener;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The session's state, its meaning for requests, and its reports to the owner. Changed on the session's event loop and
 * reported on its dispatcher; any thread may read the state.
 */
final class SessionStatus {
    private final SessionListener listener;
    private final Deliveries deliveries;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private volatile SessionState state = SessionState.CONNECTING;
    // Written and read on the dispatcher.
    private volatile long connectionNumber;
    // The loop's.
    private long connectionsMade;
    private boolean ended;
    private @Nullable CredentialsRejectedException rejection;

    SessionStatus(SessionListener listener, Deliveries deliveries) {
        this.listener = listener;
        this.deliveries = deliveries;
    }

    // ---- from any thread

    SessionState state() {
        return state;
    }

    boolean is(SessionState other) {
        return state == other;
    }

    boolean isLive() {
        return state.isLive();
    }

    /** The number of the last connection that was reported to the listener, from one. */
    long connectionNumber() {
        return connectionNumber;
    }

    /** Completed on the dispatcher when the session is lost or closed and everything else has been told. */
    CompletableFuture<Void> over() {
        return over;
    }

    // ---- on the loop

    /** Enters the next state, and has it reported to the listener. */
    void become(SessionState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("A session that is " + state + " cannot become " + next);
        }
        state = next;
        long number = next == SessionState.CONNECTED ? ++connectionsMade : 0;
        deliveries.add(() -> {
            if (number > 0) {
                connectionNumber = number;
            }
            listener.onState(next);
        });
    }

    /**
     * Events and answers come over another connection from here on. Only code that relies on the order of events needs
     * to know.
     */
    void moved() {
        long number = ++connectionsMade;
        deliveries.add(() -> connectionNumber = number);
    }

    /** The server has rejected the credentials: no request can succeed on any connection. */
    void rejectCredentials(CredentialsRejectedException by) {
        rejection = by;
        deliveries.add(() -> listener.onRejected(by));
    }

    boolean wasConnected() {
        return connectionsMade > 0;
    }

    boolean areCredentialsRejected() {
        return rejection != null;
    }

    /** Its owner's close is done; false if it was done before. */
    boolean end() {
        if (ended) {
            return false;
        }
        if (isLive()) {
            become(SessionState.CLOSED);
        }
        ended = true;
        return true;
    }

    /** Whether that close is done. */
    boolean isEnded() {
        return ended;
    }

    /** Its owner has asked to close it. */
    boolean isClosing() {
        return is(SessionState.CLOSED);
    }

    /** Nothing is left to be done at the server: ended or lost. */
    boolean isOver() {
        return ended || is(SessionState.LOST);
    }

    /** Whether no request can be sent any more, on this connection or another. */
    boolean isUseless() {
        return isOver() || areCredentialsRejected();
    }

    /** The failure of a request that cannot be sent any more. */
    ConclaveException noLongerPossible(String request) {
        CredentialsRejectedException refused = rejection;
        if (is(SessionState.LOST)) {
            return new SessionGoneException(request + ": the session was lost");
        }
        if (refused != null && !isClosing()) {
            return new RefusedException(RefusalReason.AUTH_FAILED, request + ": " + refused.getMessage());
        }
        return new ClosedException(request + ": the session was closed");
    }
}
