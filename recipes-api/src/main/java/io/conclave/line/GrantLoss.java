package io.conclave.line;

import io.conclave.error.LossReason;
import io.conclave.recipe.RecipeSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The line in the log that says that a grant has ended. */
public final class GrantLoss {
    private GrantLoss() {}

    /**
     * Logs it: a warning, unless the application has ended it itself.
     *
     * @param of the class in whose name it is logged
     * @param what was lost, as in "Lost the grant of /locks/orders: another client deleted its znode"
     */
    public static void log(Class<?> of, RecipeSession session, String what, LossReason reason) {
        Logger log = LoggerFactory.getLogger(of);
        if (reason == LossReason.COORDINATOR_CLOSED) {
            log.debug("Lost {}: the coordinator was closed", what);
        } else if (reason != LossReason.RELEASED) {
            log.warn("Lost {}: {}", what, why(session, reason));
        }
    }

    private static String why(RecipeSession session, LossReason reason) {
        return switch (reason) {
            case SESSION_LOST -> "the session 0x" + Long.toHexString(session.id()) + " was lost";
            case NODE_DELETED -> "another client deleted its znode";
            case REVOKED -> "it was revoked, and its znode deleted";
            case REFUSED -> "the store refuses to tell whether its znode is still there";
            case TIME_OVER -> "its time is over";
            case COORDINATOR_CLOSED -> "the coordinator was closed";
            case RELEASED -> "it was released";
        };
    }
}
