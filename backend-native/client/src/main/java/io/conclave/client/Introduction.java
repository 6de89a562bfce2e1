package io.conclave.client;

import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.Xid;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Sends what precedes the user's requests on a new connection, behind the credentials: the client's own questions, and
 * the watches to set again. Owned by the session's event loop.
 */
final class Introduction {
    private final SessionParts parts;
    private final ClientTransport transport;
    private final EnsembleFollower follower;
    private final BiConsumer<Connection, ServerIdentity> onIdentified;

    /**
     * The introduction of one session.
     *
     * @param onIdentified told which server it is at the other end
     */
    Introduction(
            SessionParts parts,
            ClientTransport transport,
            EnsembleFollower follower,
            BiConsumer<Connection, ServerIdentity> onIdentified) {
        this.parts = parts;
        this.transport = transport;
        this.follower = follower;
        this.onIdentified = onIdentified;
    }

    /** Sends it; flush follows. */
    void sendOver(Connection opened) {
        boolean hasOthers = transport.servers().size() > 1;
        opened.send(new IdentityExchange(parts.errors(), hasOthers, server -> onIdentified.accept(opened, server)));
        follower.ask(opened);
        List<WatchRequest.SetWatches> again =
                parts.watches().resume(parts.ticket().zxidWatched());
        parts.ticket().watchesSent(again.size());
        again.forEach(request -> opened.sendSpecial(Xid.SET_WATCHES, request));
    }
}
