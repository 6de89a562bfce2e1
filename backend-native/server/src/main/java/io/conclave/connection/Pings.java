package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.Xid;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionRecord;
import java.util.Optional;

/**
 * The pings of a connection. The client counts on its session from the answer on, so the server that could end it must
 * know first. Belongs to the connection's loop.
 */
final class Pings {
    private final ClientConnection connection;
    private final LogOffers offers;
    private final SessionLeases leases;
    private int underWay;

    Pings(ClientConnection connection, LogOffers offers, SessionLeases leases) {
        this.connection = connection;
        this.offers = offers;
        this.leases = leases;
    }

    /** Those that wait for the leader; they are answered out of turn, and so are not in the pipeline. */
    int underWay() {
        return underWay;
    }

    void ping() {
        if (connection.isReadOnly() || leases.answersAtOnce()) {
            reply();
            return;
        }
        underWay++;
        leases.whenLeaderKnowsSoon(() -> connection.loop().postBehindSteps(this::leaderKnows));
    }

    private void reply() {
        connection.reply(Xid.PING, ReplyBody.Empty.INSTANCE);
    }

    /**
     * The leader has found the session silent before it heard of this ping, and may have proposed its end: only a
     * change in the log can save it, and the log's order decides.
     */
    private void leaderKnows() {
        if (connection.isGone()) {
            return;
        }
        Optional<SessionRecord> session = connection.loop().state().session(connection.sessionId());
        if (session.isEmpty()) {
            connection.close("its session has ended");
        } else if (session.get().isSuspected()) {
            offers.propose(new KeepSessionProposal());
        } else {
            answer();
        }
    }

    private void answer() {
        reply();
        underWay--;
        connection.resume();
    }

    /** Says through the log that the session lives, and answers the ping if that was in time. */
    private final class KeepSessionProposal extends ConnectionProposal {
        KeepSessionProposal() {
            super(connection, new Change.KeepSession(connection.sessionId(), connection.attachment()));
        }

        @Override
        void applied(Applied applied) {
            if (applied.result() instanceof Result.SessionKept) {
                answer();
            } else {
                connection.close("its session is not here any more");
            }
        }

        @Override
        void refused(Rejection reason) {
            connection.close("its session cannot be kept: " + reason);
        }
    }
}
