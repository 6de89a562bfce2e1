package io.conclave.client;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.RemoveWatchesRequest;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.spi.Done;
import io.conclave.spi.RemoveWatch;
import java.util.Optional;

/**
 * The removal of a watcher. What counts is this client's registry: a watch that the server keeps without a watcher here fires unheard. So the outcome
 * is known in every case, also when the connection goes: it is not set again on the next one.
 */
final class RemoveWatchExchange extends UserExchange<Done> {
    private final SessionMachine session;
    private final RemoveWatch request;

    RemoveWatchExchange(SessionMachine session, RemoveWatch request) {
        super(session, request, null);
        this.session = session;
        this.request = request;
    }

    @Override
    Optional<RequestBody> body() {
        return session.watches()
                .forgettable(request, session.inFlight())
                .map(type -> new RemoveWatchesRequest(request.path().toString(), type.code()));
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        answeredHere();
        if (Refusals.endsSession(header.err()) || Refusals.endsConnection(header.err())) {
            session.onError(header.err(), describe());
        }
    }

    @Override
    void connectionLost(String reason) {
        answeredHere();
    }

    @Override
    void answeredHere() {
        if (session.watches().forget(request)) {
            answerHere(Done.DONE);
        } else {
            failed(new RefusedException(RefusalReason.NO_WATCHER, describe() + ": this watcher is not set there"));
        }
    }
}
