package io.conclave.queues;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.spi.Delete;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes an ephemeral znode of ours, whose name nobody else uses, and does not give up before it is gone or the session is. */
final class Removal {
    static final Duration RETRY_DELAY = Duration.ofMillis(500);

    private static final Logger LOG = LoggerFactory.getLogger(Removal.class);

    private Removal() {}

    /** To be called on the dispatcher. */
    static void of(RecipeSession session, NodePath path) {
        session.send(Delete.of(path), deleted -> {}, cause -> {
            if (cause instanceof OutcomeUnknownException) {
                of(session, path);
            } else if (Refusals.mayPass(cause)) {
                session.time().schedule(RETRY_DELAY, () -> session.execute(() -> of(session, path)));
            } else if (!Refusals.isNoNode(cause)
                    && !(cause instanceof SessionGoneException)
                    && !(cause instanceof ClosedException)) {
                LOG.error("Cannot delete {}; it stays until the session ends", path, cause);
            }
        });
    }
}
