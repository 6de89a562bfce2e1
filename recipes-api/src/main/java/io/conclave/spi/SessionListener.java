package io.conclave.spi;

import io.conclave.error.CredentialsRejectedException;
import io.conclave.session.SessionState;

/** Receives the changes of a session's state, and that its credentials were rejected. */
@FunctionalInterface
public interface SessionListener {
    /** Called on the session's dispatcher, in order with events and completions. Must not block. */
    void onState(SessionState state);

    /**
     * A server has rejected the session's credentials, once at most. The session connects no more, refuses every
     * request with AUTH_FAILED, and is lost when its time is over. Called on the session's dispatcher; must not block.
     */
    default void onRejected(CredentialsRejectedException rejection) {}
}
