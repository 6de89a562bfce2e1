package io.conclave.connection;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where a connection stands.
 *
 * <pre>
 *   HANDSHAKE --ConnectRequest--&gt; ATTACHING --applied--&gt; OPEN --last reply--&gt; ENDING --&gt; CLOSED
 *        \                            \                     \                             ^
 *         +----------------------------+---------------------+----------------------------+
 * </pre>
 */
enum ConnectionState {
    /** Has not made its handshake. */
    HANDSHAKE,
    /** Its session is on the way through the log. */
    ATTACHING,
    /** Sends requests. */
    OPEN,
    /** The last answer is being sent; nothing more is read. */
    ENDING,
    /** Gone. */
    CLOSED;

    private Set<ConnectionState> legalPredecessors() {
        return switch (this) {
            case HANDSHAKE -> EnumSet.noneOf(ConnectionState.class);
            case ATTACHING -> EnumSet.of(HANDSHAKE);
            case OPEN -> EnumSet.of(ATTACHING);
            case ENDING -> EnumSet.of(HANDSHAKE, ATTACHING, OPEN);
            case CLOSED -> EnumSet.of(HANDSHAKE, ATTACHING, OPEN, ENDING);
        };
    }

    boolean mayFollow(ConnectionState predecessor) {
        return legalPredecessors().contains(predecessor);
    }
}
