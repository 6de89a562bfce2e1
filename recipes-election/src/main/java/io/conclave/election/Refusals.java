package io.conclave.election;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;

/** What the refusal of a request says. */
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

    /** Whether the same request may be taken later. */
    static boolean mayPass(Throwable cause) {
        return is(cause, RefusalReason.NOT_WRITABLE)
                || is(cause, RefusalReason.LIMIT_EXCEEDED)
                || is(cause, RefusalReason.OTHER);
    }
}
