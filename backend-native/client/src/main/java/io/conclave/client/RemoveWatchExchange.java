package io.conclave.client;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.request.Done;
import io.conclave.request.RemoveWatch;
import java.util.Optional;

/**
 * The removal of a watcher. Only this client's registry decides: a watch at the server without a watcher here fires
 * unheard. So the outcome is always known, even if the connection is lost: the next connection does not set the watch
 * again.
 */
final class RemoveWatchExchange extends UserExchange<Done> {
    private final SessionParts session;
    private final RemoveWatch request;

    RemoveWatchExchange(SessionParts session, RemoveWatch request) {
        super(session, request);
        this.session = session;
        this.request = request;
    }

    @Override
    Optional<RequestBody> body() {
        return session.watches()
                .forgettable(request, session.link().inFlight())
                .map(type -> new WatchRequest.RemoveWatches(request.path().toString(), type.code()));
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        answeredHere();
        if (ServerErrors.endsSession(header.err()) || ServerErrors.endsConnection(header.err())) {
            session.errors().onError(header.err(), describe());
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
