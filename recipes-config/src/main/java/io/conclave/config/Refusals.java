package io.conclave.config;

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
}
