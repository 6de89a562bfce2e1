package io.conclave.client;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.spi.SessionListener;
import io.conclave.spi.SessionState;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Where the session stands, what that means for requests, and how its owner hears of it. Changed on the session's event loop and told on its dispatcher;
 * the state itself is read from anywhere.
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
    private @Nullable String credentialsFailure;

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

    /** Which connection the listener has heard of last, counted from one. */
    long connectionNumber() {
        return connectionNumber;
    }

    /** Completed on the dispatcher when the session is lost or closed and everything else has been told. */
    CompletableFuture<Void> over() {
        return over;
    }

    // ---- on the loop

    /** Goes over to the next state, and has the listener told. */
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

    /** Events and answers come over another connection from here on, which nobody needs to know but those who rely on the order of events. */
    void moved() {
        long number = ++connectionsMade;
        deliveries.add(() -> connectionNumber = number);
    }

    /** The server has rejected the credentials: no request is possible any more, and no connection is of use. */
    void rejectCredentials(String failure) {
        credentialsFailure = failure;
    }

    boolean areCredentialsRejected() {
        return credentialsFailure != null;
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
        String refused = credentialsFailure;
        if (is(SessionState.LOST)) {
            return new SessionGoneException(request + ": the session was lost");
        }
        if (refused != null && !isClosing()) {
            return new RefusedException(RefusalReason.AUTH_FAILED, request + ": " + refused);
        }
        return new ClosedException(request + ": the session was closed");
    }
}
