package io.conclave.commit;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;

/** What the failure of a request says. */
final class Refusals {
    private Refusals() {}

    static boolean is(Throwable cause, RefusalReason reason) {
        return cause instanceof RefusedException refused && refused.reason() == reason;
    }

    /** Whether that operation of a transaction was refused for this reason. */
    static boolean is(Throwable cause, RefusalReason reason, int operationIndex) {
        return is(cause, reason)
                && cause instanceof RefusedException refused
                && refused.operationIndex().orElse(-1) == operationIndex;
    }

    static boolean isNoNode(Throwable cause) {
        return is(cause, RefusalReason.NO_NODE);
    }

    static boolean isUnknown(Throwable cause) {
        return cause instanceof OutcomeUnknownException;
    }

    /** Whether the state of the tree has changed under a transaction, so that another look at it is due. */
    static boolean isStateChanged(Throwable cause) {
        return isNoNode(cause)
                || is(cause, RefusalReason.NODE_EXISTS)
                || is(cause, RefusalReason.BAD_VERSION)
                || is(cause, RefusalReason.NOT_EMPTY);
    }

    /** Whether the same request may be taken later. */
    static boolean mayPass(Throwable cause) {
        return is(cause, RefusalReason.NOT_WRITABLE)
                || is(cause, RefusalReason.LIMIT_EXCEEDED)
                || is(cause, RefusalReason.OTHER);
    }

    /** The failure as one that an application knows. */
    static ConclaveException known(Throwable cause, Object whose) {
        return cause instanceof ConclaveException known
                ? known
                : new OutcomeUnknownException("Unexpected failure of " + whose, cause);
    }
}
