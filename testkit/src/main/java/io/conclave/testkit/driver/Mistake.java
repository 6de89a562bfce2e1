package io.conclave.testkit.driver;

import io.conclave.error.RefusalReason;
import io.conclave.node.NodeEvent;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import java.util.concurrent.CompletionStage;

/**
 * A mistake that stands between the victim's recipe and its session: the recipe is the true one, and one of its steps
 * goes wrong. See {@link FaultDriver#find}.
 *
 * <p>Requests and operations are chosen by a regular expression, which must match all of {@link Request#describe()}.
 */
@FunctionalInterface
public interface Mistake {
    /** The session as the mistaken recipe uses it. */
    BackendSession around(BackendSession sound);

    /** What the mistaken recipe does after a lost reply. */
    @FunctionalInterface
    interface AfterLostReply {
        /**
         * Answers the request instead of saying that its outcome is unknown. Called on the dispatcher; must not block.
         *
         * @param <R> what the backend answers
         */
        <R> CompletionStage<R> answer(BackendSession session, Request<R> request);
    }

    /** The recipe stops when it is told that its session is lost, and does not look at the clock. */
    static Mistake stopsOnlyWhenTold() {
        return MistakenSessions.Timeless::new;
    }

    /** The recipe does not hear that a znode is deleted whose path matches. */
    static Mistake doesNotHearOfDeletion(String path) {
        return sound -> new MistakenSessions.Deaf(sound, NodeEvent.Type.DELETED, path);
    }

    /** The recipe does not hear that children come to a znode whose path matches, or go from it. */
    static Mistake doesNotHearOfChildren(String path) {
        return sound -> new MistakenSessions.Deaf(sound, NodeEvent.Type.CHILDREN_CHANGED, path);
    }

    /**
     * A request whose reply was lost is sent again, once and without data versions, whatever others have done since.
     */
    static Mistake sendsAgain(String request) {
        return afterLostReply(request, MistakenSessions::again);
    }

    /** As {@link #sendsAgain}, without some operations of a transaction; a check of the root stands in their place. */
    static Mistake sendsAgainWithout(String operation, String transaction) {
        return afterLostReply(transaction, new MistakenSessions.AgainWithout(operation));
    }

    /** A request whose reply was lost counts as refused, for this reason. */
    static Mistake takesForRefused(String request, RefusalReason reason) {
        return sound -> new MistakenSessions.Hasty(sound, request, new MistakenSessions.Refusing(reason));
    }

    /** A request whose reply was lost is never answered. */
    static Mistake doesNotHearOfLostReply(String request) {
        return afterLostReply(request, MistakenSessions::nothing);
    }

    /** A deletion or transaction whose reply was lost counts as done. */
    static Mistake takesForDone(String request) {
        return afterLostReply(request, MistakenSessions::done);
    }

    /** After a lost reply the recipe does something else than to look what has happened. */
    static Mistake afterLostReply(String request, AfterLostReply answer) {
        return sound -> new MistakenSessions.Hasty(sound, request, answer);
    }

    /** A write is sent without the data versions on which it depends. */
    static Mistake forgetsVersions(String write) {
        return sound -> new MistakenSessions.Careless(sound, write, MistakenSessions::withoutVersion);
    }

    /** A transaction is sent without some of its operations; a check of the root stands in their place. */
    static Mistake leavesOut(String operation, String transaction) {
        return sound -> new MistakenSessions.Careless(sound, transaction, MistakenSessions.without(operation));
    }

    /** A transaction of creations is sent as single requests, each when the one before was answered. */
    static Mistake sendsOneByOne(String transaction) {
        return sound -> new MistakenSessions.OneByOne(sound, transaction);
    }

    /** This mistake and another one, which sees the requests first. */
    default Mistake and(Mistake other) {
        return sound -> other.around(around(sound));
    }
}
