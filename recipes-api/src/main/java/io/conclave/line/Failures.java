package io.conclave.line;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;

/** What the failure of a request says of the line. */
final class Failures {
    private Failures() {}

    /** Whether the znode is not there. */
    static boolean isNoNode(Throwable cause) {
        return cause instanceof RefusedException refused && refused.reason() == RefusalReason.NO_NODE;
    }

    /** Whether the znode was written since it was read. */
    static boolean isBadVersion(Throwable cause) {
        return cause instanceof RefusedException refused && refused.reason() == RefusalReason.BAD_VERSION;
    }
}
