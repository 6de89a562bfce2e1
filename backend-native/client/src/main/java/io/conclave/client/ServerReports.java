package io.conclave.client;

import io.conclave.error.CredentialsRejectedException;
import io.conclave.node.NodePath;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.EventType;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WatcherEvent;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what a server says out of turn: events, that it stops, and whether it accepts credentials and watches. Owned by
 * the session's event loop.
 */
final class ServerReports {
    private static final Logger LOG = LoggerFactory.getLogger(ServerReports.class);

    private final SessionParts parts;
    private final ClientTransport transport;
    private final Object session;
    private final Queue<String> unanswered = new ArrayDeque<>();

    /**
     * The reports to one session.
     *
     * @param session its name in the log
     */
    ServerReports(SessionParts parts, ClientTransport transport, Object session) {
        this.parts = parts;
        this.transport = transport;
        this.session = session;
    }

    /** Credentials of these schemes were sent over the connection of now, in this order; they are answered in it. */
    void credentialsSent(List<String> schemes) {
        unanswered.clear();
        unanswered.addAll(schemes);
    }

    void onAuthenticated(int err) {
        String scheme = unanswered.isEmpty() ? "" : unanswered.remove();
        if (err != ErrorCode.OK.code()) {
            onRejected(scheme, ErrorCode.describe(err));
        }
    }

    /** @param scheme what was rejected; empty if the server wants more than there is */
    void onRejected(String scheme, String reason) {
        Connection current = parts.link().current();
        if (current == null || parts.status().areCredentialsRejected()) {
            return;
        }
        CredentialsRejectedException rejection = new CredentialsRejectedException(scheme, current.server(), reason);
        LOG.error("{}: {}; every request is refused from now on", session, rejection.getMessage());
        parts.status().rejectCredentials(rejection);
        // The server executes nothing behind a rejected proof, so what is in flight is refused, not unknown.
        current.failInFlight(parts.status()::noLongerPossible);
        current.shut(String.valueOf(rejection.getMessage()));
    }

    void onWatchesSet(Connection opened, int err) {
        parts.ticket().watchesSet();
        if (err != ErrorCode.OK.code()) {
            LOG.warn("{}: {} could not set the watches again: {}", session, opened, ErrorCode.describe(err));
            opened.shut("watches were not set again: " + ErrorCode.describe(err));
        }
    }

    void onEvent(Connection teller, ReplyHeader header, WatcherEvent event) {
        Optional<EventType> type = event.eventType();
        Optional<NodePath> path = pathOf(event);
        if (type.isEmpty() || path.isEmpty()) {
            LOG.debug("{}: ignored an event of type {}", session, event.type());
            return;
        }
        if (type.get() == EventType.NODE_DATA_CHANGED && event.path().equals(ServerIdentity.PATH)) {
            onGoodbye(teller);
            return;
        }
        parts.ticket().seen(header.zxid());
        parts.watches().tell(type.get(), path.get(), header.zxid());
    }

    /** Empty if no znode can have the path: nothing can be watched there. */
    private static Optional<NodePath> pathOf(WatcherEvent event) {
        try {
            return Optional.of(NodePath.of(event.path()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The server is about to stop, and answers until then: the session waits for the requests that were sent, and sends
     * all others to another server.
     */
    private void onGoodbye(Connection teller) {
        boolean carries = parts.link().attached() == teller;
        if (transport.servers().size() > 1 && carries && !parts.status().isClosing()) {
            LOG.debug("{}: the {} ends soon", session, teller);
            teller.leave();
        }
    }
}
