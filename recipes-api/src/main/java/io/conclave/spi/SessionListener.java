package io.conclave.spi;

import io.conclave.session.SessionState;

/** Is told how a session's state changes. */
@FunctionalInterface
public interface SessionListener {
    /** Called on the session's dispatcher, in order with events and completions. Must not block. */
    void onState(SessionState state);
}
