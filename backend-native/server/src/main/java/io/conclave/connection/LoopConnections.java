package io.conclave.connection;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop: which session each has, what they are served, and which ones have something to
 * flush. Belongs to the loop.
 */
final class LoopConnections {
    private static final Logger LOG = LoggerFactory.getLogger(LoopConnections.class);
    private final Set<ClientConnection> open = new LinkedHashSet<>();
    private final Map<Long, ClientConnection> bySession = new HashMap<>();
    private final Set<ClientConnection> unflushed = new LinkedHashSet<>();
    private ServiceMode mode = ServiceMode.NONE;

    /** What would be served if the log's thread were known to move. */
    private ServiceMode granted = ServiceMode.NONE;

    private ServiceMode most = ServiceMode.FULL;
    private boolean hasState = true;
    private boolean flushing;

    /** All that are open, in the order in which they came. */
    Collection<ClientConnection> all() {
        return open;
    }

    void opened(ClientConnection connection) {
        open.add(connection);
    }

    void attach(long sessionId, ClientConnection connection) {
        bySession.put(sessionId, connection);
    }

    void remove(ClientConnection connection) {
        bySession.remove(connection.sessionId(), connection);
        unflushed.remove(connection);
        open.remove(connection);
    }

    /** The session is attached elsewhere now, unless it is by this very attachment. */
    void moved(long sessionId, long attachment) {
        ClientConnection connection = bySession.get(sessionId);
        if (connection != null && connection.attachment() != attachment) {
            bySession.remove(sessionId);
            connection.close("its session has moved to another connection");
        }
    }

    void ended(long sessionId) {
        ClientConnection connection = bySession.remove(sessionId);
        if (connection != null) {
            connection.sessionEnded();
        }
    }

    void closeAll(String reason) {
        forEach(connection -> connection.close(reason));
    }

    /** Each of those that are open now may leave meanwhile. */
    void forEach(Consumer<ClientConnection> action) {
        new ArrayList<>(open).forEach(action);
    }

    // ---- service

    /** What clients are served now. */
    ServiceMode mode() {
        return mode;
    }

    /** Serves otherwise from here on: clients that may not stay are sent away. */
    void serve(ServiceMode newMode) {
        granted = newMode;
        settleMode();
    }

    /** Serves no more than this, even if more is granted. */
    void serveAtMost(ServiceMode newMost) {
        most = newMost;
        settleMode();
    }

    /** Without a state no client is served, whatever is granted. */
    void hasState(boolean value) {
        hasState = value;
        settleMode();
    }

    private void settleMode() {
        ServiceMode bound = hasState ? most : ServiceMode.NONE;
        ServiceMode newMode = granted.compareTo(bound) < 0 ? granted : bound;
        if (mode != newMode) {
            mode = newMode;
            forEach(connection -> connection.serviceChanged(newMode));
        }
    }

    // ---- output

    /** Has the connection flushed at the end of the present task. */
    void flushLater(ClientConnection connection) {
        unflushed.add(connection);
    }

    /**
     * Flushes all connections that have something gathered. Inside the JVM a flush can run the client's code, and that
     * can come back here in the middle of the very channel's flush, where Netty would ignore another one; the outermost
     * call takes those up.
     */
    void flush() {
        if (flushing) {
            return;
        }
        flushing = true;
        try {
            while (!unflushed.isEmpty()) {
                List<ClientConnection> now = new ArrayList<>(unflushed);
                unflushed.clear();
                now.forEach(LoopConnections::flushGuarded);
            }
        } finally {
            flushing = false;
        }
    }

    private static void flushGuarded(ClientConnection connection) {
        try {
            connection.flushOutput();
        } catch (RuntimeException | Error e) {
            LOG.error("Connection {} cannot be flushed", connection, e);
        }
    }
}
