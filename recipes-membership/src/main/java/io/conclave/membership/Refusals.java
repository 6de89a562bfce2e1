package io.conclave.membership;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;

/** What the refusal of a request says. */
final class Refusals {
    private Refusals() {}

    static boolean is(Throwable cause, RefusalReason reason) {
        return cause instanceof RefusedException refused && refused.reason() == reason;
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
