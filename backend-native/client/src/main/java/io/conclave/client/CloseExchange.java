package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;
import java.util.function.IntConsumer;

/** Ends the session at the server. */
final class CloseExchange extends Exchange {
    private final IntConsumer onAnswered;

    /**
     * The request.
     *
     * @param onAnswered given the error with which the server has answered: none, as a rule
     */
    CloseExchange(IntConsumer onAnswered) {
        this.onAnswered = onAnswered;
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
        onAnswered.accept(header.err());
    }

    @Override
    void failed(ConclaveException failure) {
        // The next connection, if there is one, sends it again.
    }
}
