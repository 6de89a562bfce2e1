package io.conclave.client;

import java.util.Optional;
import java.util.function.Consumer;

/** Asks whether the server is one of ours, and watches for its stop. */
final class IdentityExchange extends OwnRead {
    private final Consumer<ServerIdentity> onIdentified;

    /**
     * The question.
     *
     * @param watch whether the session has somewhere else to go, and so wants to be told
     */
    IdentityExchange(SessionParts.ErrorListener errors, boolean watch, Consumer<ServerIdentity> onIdentified) {
        super(errors, ServerIdentity.PATH, watch);
        this.onIdentified = onIdentified;
    }

    @Override
    void onData(Optional<byte[]> data) {
        onIdentified.accept(data.map(ServerIdentity::parse).orElse(ServerIdentity.FOREIGN));
    }
}
