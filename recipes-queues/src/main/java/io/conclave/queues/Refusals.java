package io.conclave.queues;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;

/** What the failure of a request says. */
final class Refusals {
    private Refusals() {}

    static boolean is(Throwable cause, RefusalReason reason) {
        return cause instanceof RefusedException refused && refused.reason() == reason;
    }

    static boolean isNoNode(Throwable cause) {
        return is(cause, RefusalReason.NO_NODE);
    }

    /** Whether what the request was about has changed since we looked. */
    static boolean isStale(Throwable cause) {
        return isNoNode(cause) || is(cause, RefusalReason.BAD_VERSION) || is(cause, RefusalReason.NODE_EXISTS);
    }

    /** Whether the same request may succeed a little later. */
    static boolean mayPass(Throwable cause) {
        return is(cause, RefusalReason.NOT_WRITABLE)
                || is(cause, RefusalReason.LIMIT_EXCEEDED)
                || is(cause, RefusalReason.OTHER);
    }
}
