package io.conclave.recipe;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.session.SessionState;
import java.util.function.Consumer;

/**
 * What the failure of a request says, for recipes. Each takes the failure without the wrapper of a stage: see {@link
 * Waiting#cause}.
 */
public final class Failures {
    private Failures() {}

    /** Whether the request was refused for this reason. */
    public static boolean is(Throwable cause, RefusalReason reason) {
        return cause instanceof RefusedException refused && refused.reason() == reason;
    }

    /** Whether that operation of a transaction was refused for this reason. */
    public static boolean is(Throwable cause, RefusalReason reason, int operationIndex) {
        return cause instanceof RefusedException refused
                && refused.reason() == reason
                && refused.operationIndex().orElse(-1) == operationIndex;
    }

    /** Whether the znode is not there. */
    public static boolean isNoNode(Throwable cause) {
        return is(cause, RefusalReason.NO_NODE);
    }

    /** What is done about a failure: the one if the znode is not there, else the other. */
    public static Consumer<Throwable> ifNoNode(Runnable then, Consumer<? super Throwable> otherwise) {
        return cause -> {
            if (isNoNode(cause)) {
                then.run();
            } else {
                otherwise.accept(cause);
            }
        };
    }

    /** Whether the session is gone or closed: nothing more comes of it, and its state tells what follows. */
    public static boolean isSessionOver(Throwable cause) {
        return cause instanceof SessionGoneException || cause instanceof ClosedException;
    }

    /**
     * The failure of a call that could not find out whether its request took effect. If the look was refused, or not
     * sent because the coordinator was closed, that says nothing of the request: the outcome stays unknown.
     *
     * @param unknown of the request
     * @param cause why the look failed; see {@link #mayPass} before that
     */
    public static Throwable inDoubt(OutcomeUnknownException unknown, Throwable cause) {
        if (cause instanceof RefusedException) {
            return new OutcomeUnknownException(
                    unknown.getMessage() + "; what became of it cannot be looked up: " + cause.getMessage(), cause);
        }
        return cause instanceof ClosedException ? unknown : cause;
    }

    /**
     * What a call fails with whose session has ended.
     *
     * @param end how: lost, or closed with its coordinator
     * @param doing what it did, as in "waiting for /locks/orders"
     */
    public static ConclaveException sessionEnded(SessionState end, String doing) {
        return end == SessionState.CLOSED
                ? new ClosedException("The coordinator was closed while " + doing)
                : new SessionGoneException("The session was lost while " + doing);
    }

    /** Whether znodes that the request was about have come, gone or been written since we looked. */
    public static boolean isStale(Throwable cause) {
        return isNoNode(cause) || is(cause, RefusalReason.BAD_VERSION) || is(cause, RefusalReason.NODE_EXISTS);
    }

    /**
     * Whether the tree has changed under a request, also by children of what it deletes, so that another look is due.
     */
    public static boolean isStateChanged(Throwable cause) {
        return isStale(cause) || is(cause, RefusalReason.NOT_EMPTY);
    }

    /** Whether the same request may be taken later. */
    public static boolean mayPass(Throwable cause) {
        return is(cause, RefusalReason.NOT_WRITABLE)
                || is(cause, RefusalReason.LIMIT_EXCEEDED)
                || is(cause, RefusalReason.OTHER);
    }

    /**
     * The failure as one that an application knows.
     *
     * @param whose says in the message what failed, should it be none of ours
     */
    public static ConclaveException known(Throwable cause, Object whose) {
        return cause instanceof ConclaveException known
                ? known
                : new OutcomeUnknownException("Unexpected failure of " + whose, cause);
    }
}
