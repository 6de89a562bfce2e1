package io.conclave.session;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where a session stands.
 *
 * <pre>{@code
 *              +-----------------------------+
 *              v                             |
 * CONNECTING -> CONNECTED <----> SUSPENDED   |
 *     |             |               |        |
 *     +-------------+-----> LOST <--+        |
 *     +-------> CLOSED (from every state but LOST)
 * }</pre>
 *
 * <p>A session that the backend fails to open is CONNECTING until the coordinator gives it up, and then LOST.
 *
 * <p>LOST and CLOSED are final for a session. A coordinator opens a new session after LOST by itself.
 */
public enum SessionState {
    /** The first connection is being made; the session does not exist yet. */
    CONNECTING,
    /** Connected; requests flow. */
    CONNECTED,
    /** The connection was lost, the session may live; requests wait for the next connection. */
    SUSPENDED,
    /** The session is gone: the server said so, or the local clock says that it must be. */
    LOST,
    /** The session was closed by its owner. */
    CLOSED;

    private static final Set<SessionState> LIVE = EnumSet.of(CONNECTING, CONNECTED, SUSPENDED);

    /** Whether a session in this state may go over to the next one. */
    public boolean mayBecome(SessionState next) {
        return switch (next) {
            case CONNECTED -> this == CONNECTING || this == SUSPENDED;
            case SUSPENDED -> this == CONNECTED;
            case LOST -> isLive();
            case CLOSED -> isLive();
            case CONNECTING -> false;
        };
    }

    /** Whether the session may still exist: neither lost nor closed. */
    public boolean isLive() {
        return LIVE.contains(this);
    }
}
