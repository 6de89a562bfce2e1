package io.conclave.client;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a lost session at the server, over a connection of its own: resumes it and closes it, unless the server has
 * expired it already. What that session has sent before takes effect before its end, or never. Owned by the event loop
 * of the session that opens next.
 */
final class LostSessionEnd implements ConnectionOwner {
    private static final Logger LOG = LoggerFactory.getLogger(LostSessionEnd.class);

    private final ConnectRequest greeting;
    private final LostSessions sessions;
    private final SessionParts next;
    private final Credentials credentials;
    private final Consumer<Connection> onEnded;
    private final ConnectionOwner otherwise;
    private boolean isEnded;

    /**
     * The end of one session.
     *
     * @param greeting the handshake that resumes it
     * @param next the parts of the session that opens next
     * @param onEnded told when the session has ended and the connection is shut
     * @param otherwise told when the connection is shut before that
     */
    LostSessionEnd(
            ConnectRequest greeting,
            LostSessions sessions,
            SessionParts next,
            Credentials credentials,
            Consumer<Connection> onEnded,
            ConnectionOwner otherwise) {
        this.greeting = greeting;
        this.sessions = sessions;
        this.next = next;
        this.credentials = credentials;
        this.onEnded = onEnded;
        this.otherwise = otherwise;
    }

    @Override
    public void onOpen(Connection opened) {
        opened.greet(greeting);
    }

    @Override
    public void onGreeted(Connection opened, ConnectResponse response) {
        if (response.timeoutMs() <= 0 || response.sessionId() != greeting.sessionId()) {
            ended(opened, "the server had expired it");
        } else {
            credentials.sendOver(opened, () -> close(opened));
        }
    }

    private void close(Connection opened) {
        opened.send(new CloseExchange(err -> onAnswered(opened, err)));
        opened.flush();
    }

    private void onAnswered(Connection opened, int err) {
        if (err == ErrorCode.OK.code() || ServerErrors.endsSession(err)) {
            ended(opened, "the server has closed it");
        } else {
            next.errors().onError(err, "close session"); // it may want other credentials
            opened.shut("it did not close the lost session: " + ErrorCode.describe(err));
        }
    }

    private void ended(Connection connection, String how) {
        LOG.info("The lost session 0x{} has ended: {}", Long.toHexString(greeting.sessionId()), how);
        sessions.ended(greeting);
        isEnded = true;
        connection.shut("the lost session has ended");
    }

    @Override
    public void onShut(Connection gone, String reason) {
        if (isEnded) {
            onEnded.accept(gone);
        } else {
            otherwise.onShut(gone, reason);
        }
    }

    @Override
    public void onReadComplete() {
        next.deliveries().flush();
    }

    @Override
    public void onWritable() {
        // one request is sent, and nothing waits
    }

    @Override
    public void onLeft(Connection left) {
        left.shut("its server stops");
    }
}
