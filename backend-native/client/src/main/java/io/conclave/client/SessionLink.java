package io.conclave.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The session's connection of now, if there is one, and whether it carries the session already. Owned by the session's
 * event loop.
 */
final class SessionLink {
    private @Nullable Connection connection;
    private boolean attached;

    /** A connection is tried, from now on the only one. */
    void attempt(Connection attempt) {
        connection = attempt;
        attached = false;
    }

    /** The server has accepted the session on the connection of now. */
    void attach() {
        attached = true;
    }

    /** Whether this is the connection of now. */
    boolean is(Connection other) {
        return connection == other;
    }

    /** The connection that carries the session, if one does. */
    @Nullable
    Connection attached() {
        return attached ? connection : null;
    }

    /** The requests sent and not yet answered, oldest first. */
    Iterable<Exchange> inFlight() {
        Connection current = connection;
        return current == null ? List.of() : current.inFlight();
    }

    /** The connection of now is none any more. Returns it, if there was one. */
    @Nullable
    Connection release() {
        Connection last = connection;
        connection = null;
        attached = false;
        return last;
    }

    /** Ends the connection of now, if there is one. */
    void shut(String reason) {
        Connection current = connection;
        if (current != null) {
            current.shut(reason);
        }
    }

    /** The connection of now, if there is one. */
    @Nullable
    Connection current() {
        return connection;
    }
}
