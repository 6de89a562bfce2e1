package io.conclave.spi;

import io.conclave.session.SessionState;

/** Receives the changes of a session's state. */
@FunctionalInterface
public interface SessionListener {
    /** Called on the session's dispatcher, in order with events and completions. Must not block. */
    void onState(SessionState state);
}
