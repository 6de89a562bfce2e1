package io.conclave.client;

import java.util.Optional;

/** Asks whether the server is one of ours, and watches for its stop. */
final class IdentityExchange extends OwnRead {
    private final SessionMachine session;
    private final Connection asked;

    /**
     * The question.
     *
     * @param watch whether the session has somewhere else to go, and so wants to be told
     */
    IdentityExchange(SessionMachine session, Connection asked, boolean watch) {
        super(session, ServerIdentity.PATH, watch);
        this.session = session;
        this.asked = asked;
    }

    @Override
    void onData(Optional<byte[]> data) {
        session.onIdentified(asked, data.map(ServerIdentity::parse).orElse(ServerIdentity.FOREIGN));
    }
}
