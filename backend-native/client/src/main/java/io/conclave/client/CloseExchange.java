package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;

/** Ends the session at the server. */
final class CloseExchange extends Exchange {
    private final Runnable onClosed;

    /**
     * The request.
     *
     * @param onClosed called when the server has confirmed it
     */
    CloseExchange(Runnable onClosed) {
        this.onClosed = onClosed;
    }

    @Override
    String describe() {
        return "close session";
    }

    @Override
    Optional<RequestBody> body() {
        return Optional.of(ConnectionRequest.Empty.CLOSE_SESSION);
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        onClosed.run();
    }

    @Override
    void failed(ConclaveException failure) {
        // The next connection, if there is one, sends it again.
    }
}
