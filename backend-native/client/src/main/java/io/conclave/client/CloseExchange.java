package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;

/** Ends the session at the server. */
final class CloseExchange extends Exchange {
    private final SessionMachine session;

    CloseExchange(SessionMachine session) {
        this.session = session;
    }

    @Override
    String describe() {
        return "close session";
    }

    @Override
    Optional<RequestBody> body() {
        return Optional.of(RequestBody.Empty.CLOSE_SESSION);
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        session.end();
    }

    @Override
    void failed(ConclaveException failure) {
        // The next connection, if there is one, sends it again.
    }
}
