package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.ReplyBody;
import io.conclave.time.TimeSource;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.SessionRecord;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The first frame of a connection: opens a session or takes one up, by an entry of the log. Belongs to the loop. */
final class ClientHandshake {
    private final ClientConnection connection;
    private final LogOffers offers;
    private final ConnectionServices services;
    private TimeSource.@Nullable Timer deadline;

    ClientHandshake(ClientConnection connection, LogOffers offers, ConnectionServices services) {
        this.connection = connection;
        this.offers = offers;
        this.services = services;
    }

    void startDeadline() {
        deadline = services.time().schedule(Duration.ofMillis(services.limits().handshakeTimeoutMs()), () -> connection
                .loop()
                .post(this::endLate));
    }

    private void endLate() {
        if (connection.state() == ConnectionState.ATTACHING) {
            connection.close("its session did not come through the log in time");
        } else if (!connection.isGone()) {
            String reason = "it has not said in time which session it wants";
            services.guard().late().add(connection, reason);
            connection.close(reason);
        }
    }

    void cancelDeadline() {
        TimeSource.Timer timer = deadline;
        if (timer != null) {
            timer.cancel();
            deadline = null;
        }
    }

    void handle(ByteBuf frame) {
        ConnectRequest request = ConnectRequest.decode(new JuteReader(frame));
        if (connection.loop().goodbye().isSaid()) {
            connection.close("this server is about to stop");
            return;
        }
        switch (connection.loop().connections().mode()) {
            case NONE -> connection.close("this server serves no clients now: it has no leader or is behind");
            case READ_ONLY -> serveReads(request);
            case FULL -> serve(request);
        }
    }

    private void serve(ConnectRequest request) {
        byte[] password = request.password();
        if (request.sessionId() != 0 && (password == null || password.length != SessionPassword.BYTES)) {
            if (admitsUnknown()) {
                refuse(request);
            }
            return;
        }
        connection.attaching();
        if (isAhead(request)) {
            services.leases()
                    .whenLeaderKnows(() -> connection.loop().postBehindSteps(() -> attachUnlessAhead(request)));
        } else {
            attach(request);
        }
    }

    /** Closes if not. An operator has to act most of all while strangers take all that there is. */
    private boolean admitsNew(ConnectRequest request) {
        if (isOperator(request) || admitsSession()) {
            return true;
        }
        connection.close("there are too many sessions");
        return false;
    }

    private boolean isOperator(ConnectRequest request) {
        return services.security().superUser().opensWith(request.password());
    }

    private boolean admitsSession() {
        int sessions = services.replicated().get().sessions().size();
        return services.sessionCounts().admits(connection.address(), sessions, connection);
    }

    /** Closes if not. */
    private boolean admitsUnknown() {
        if (services.sessionCounts().admitsUnknown(connection.address(), connection)) {
            return true;
        }
        connection.close("too many clients come in this second with sessions that are not known");
        return false;
    }

    private boolean isAhead(ConnectRequest request) {
        return request.lastZxidSeen() > services.replicated().get().lastZxid();
    }

    /** By now this server has caught up with all that its cluster had committed when the client came. */
    private void attachUnlessAhead(ConnectRequest request) {
        if (connection.isGone()) {
            return;
        }
        if (isAhead(request)) {
            services.guard()
                    .clientsAhead()
                    .add(
                            connection,
                            "it has seen zxid 0x" + Long.toHexString(request.lastZxidSeen()) + ", this server only 0x"
                                    + Long.toHexString(
                                            services.replicated().get().lastZxid())
                                    + "; it must try another server");
            connection.close("its client is ahead of this server");
            return;
        }
        attach(request);
    }

    /** A session is admitted in the turn in which it begins to count: many may have waited for the leader until now. */
    private void attach(ConnectRequest request) {
        boolean isNew = request.sessionId() == 0;
        if (isNew ? !admitsNew(request) : !isKnown(request) && !admitsUnknown()) {
            return;
        }
        Change change = isNew ? open(request) : resume(request);
        Attach attach = new Attach(request, change);
        // One turn later, so that a client that has already left again is noticed: an attach takes the session away
        // from where it was.
        connection.loop().post(() -> propose(attach));
    }

    /**
     * Without a leader it is not known which sessions live: a client that wants reads only gets them under the session
     * that it claims, but not under one whose password this server knows to be another.
     */
    private void serveReads(ConnectRequest request) {
        if (!request.readOnly() || isAhead(request)) {
            connection.close("this server serves reads only now, to clients that ask for that");
            return;
        }
        boolean isNew = request.sessionId() == 0;
        long sessionId = isNew ? services.sessionIds().nextId() : request.sessionId();
        SessionPassword password = isNew ? services.sessionIds().nextPassword() : passwordOf(request);
        boolean contradicted = services.replicated()
                .get()
                .session(sessionId)
                .filter(session -> !session.password().equals(password))
                .isPresent();
        if (contradicted) {
            connection.close("a wrong password");
            return;
        }
        cancelDeadline();
        connection.attaching();
        connection.attachedReadOnly(sessionId);
        connection.write(
                new ConnectResponse(0, timeoutMs(request), sessionId, password.toBytes(), true, true),
                ReplyBody.Empty.INSTANCE);
    }

    private static SessionPassword passwordOf(ConnectRequest request) {
        byte[] bytes = request.password();
        return SessionPassword.of(
                bytes == null || bytes.length != SessionPassword.BYTES ? new byte[SessionPassword.BYTES] : bytes);
    }

    private Change open(ConnectRequest request) {
        return new Change.OpenSession(
                services.sessionIds().nextId(), services.sessionIds().nextPassword(), timeoutMs(request));
    }

    /**
     * A resume with the right password is a heartbeat: without it, the session could be found silent between here
     * and the log. If its end is proposed already, the log has it before this.
     */
    private Change resume(ConnectRequest request) {
        if (isKnown(request)) {
            services.leases().of(request.sessionId()).touch();
        }
        return new Change.ResumeSession(request.sessionId(), passwordOf(request), timeoutMs(request));
    }

    /**
     * Whether this server knows the session, with its password. It may not know one that was opened at another server
     * a moment ago, so only the log says that one has expired.
     */
    private boolean isKnown(ConnectRequest request) {
        return services.replicated()
                .get()
                .session(request.sessionId())
                .filter(session -> session.password().equals(passwordOf(request)))
                .isPresent();
    }

    private int timeoutMs(ConnectRequest request) {
        return services.limits().sessionTimeoutMs(request.timeoutMs());
    }

    private void propose(Attach attach) {
        if (connection.isGone()) {
            attach.neverProposed();
        } else {
            offers.propose(attach);
        }
    }

    private void refuse(ConnectRequest request) {
        connection.write(ConnectResponse.sessionGone(request), ReplyBody.Empty.INSTANCE);
        connection.closeAfterOutput();
    }

    private void accept(ConnectRequest request, SessionRecord session) {
        cancelDeadline();
        connection.attached(session);
        connection.write(
                new ConnectResponse(
                        0,
                        session.timeoutMs(),
                        session.id(),
                        session.password().toBytes(),
                        false,
                        request.readOnlyPresent()),
                ReplyBody.Empty.INSTANCE);
        connection.resume();
    }

    /** The attach on its way through the log. */
    private final class Attach extends ConnectionProposal {
        private final ConnectRequest request;

        Attach(ConnectRequest request, Change change) {
            super(connection, change);
            this.request = request;
            if (change instanceof Change.OpenSession open) {
                services.sessionCounts().opening(open.id(), connection.address());
            }
        }

        @Override
        void applied(Applied applied) {
            if (connection.isGone()) {
                return;
            }
            if (applied.result() instanceof Result.SessionAttached attached) {
                accept(request, attached.session());
            } else {
                refuse(request);
            }
        }

        @Override
        void neverProposed() {
            countNoMore();
        }

        @Override
        void outcomeLost() {
            countNoMore();
            super.outcomeLost();
        }

        private void countNoMore() {
            if (change() instanceof Change.OpenSession open) {
                services.sessionCounts().notOpened(open.id());
            }
        }

        @Override
        void refused(Rejection reason) {
            countNoMore();
            connection.close("the log refused its session: " + reason);
        }
    }
}
