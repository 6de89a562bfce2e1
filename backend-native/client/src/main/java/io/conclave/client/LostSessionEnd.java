package io.conclave.client;

import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.ErrorCode;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a lost session at the server, over a connection of its own: resumes it and closes it, unless the server has
 * expired it already. What that session has sent before takes effect before its end, or never. While somebody may
 * still rely on it, because its time was told before a clock jumped, it is left alone. Owned by the event loop of the
 * session that opens next.
 */
final class LostSessionEnd implements ConnectionOwner {
    private static final Logger LOG = LoggerFactory.getLogger(LostSessionEnd.class);

    private final LostSessions.Lost lost;
    private final LostSessions sessions;
    private final SessionParts next;
    private final Credentials credentials;
    private final BiConsumer<Connection, Duration> onDone;
    private final ConnectionOwner otherwise;
    private @Nullable Duration pause; // once it is done

    /**
     * The end of one session.
     *
     * @param next the parts of the session that opens next
     * @param onDone told when the connection has done its work and is shut, and how long to wait with the next one
     * @param otherwise told when the connection is shut before that
     */
    LostSessionEnd(
            LostSessions.Lost lost,
            LostSessions sessions,
            SessionParts next,
            Credentials credentials,
            BiConsumer<Connection, Duration> onDone,
            ConnectionOwner otherwise) {
        this.lost = lost;
        this.sessions = sessions;
        this.next = next;
        this.credentials = credentials;
        this.onDone = onDone;
        this.otherwise = otherwise;
    }

    @Override
    public void onOpen(Connection opened) {
        opened.greet(lost.greeting());
    }

    @Override
    public void onGreeted(Connection opened, ConnectResponse response) {
        Duration promised = lost.promised().get();
        if (response.timeoutMs() <= 0 || response.sessionId() != lost.greeting().sessionId()) {
            ended(opened, "the server had expired it");
        } else if (promised.isZero()) {
            credentials.sendOver(opened, () -> close(opened));
        } else {
            done(opened, promised, "the lost session may be relied on");
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
        sessions.ended(lost);
        LOG.info(
                "The lost session 0x{} has ended: {}",
                Long.toHexString(lost.greeting().sessionId()),
                how);
        done(connection, Duration.ZERO, "the lost session has ended");
    }

    private void done(Connection connection, Duration before, String why) {
        pause = before;
        connection.shut(why);
    }

    @Override
    public void onShut(Connection gone, String reason) {
        Duration before = pause;
        if (before == null) {
            otherwise.onShut(gone, reason);
        } else {
            onDone.accept(gone, before);
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
