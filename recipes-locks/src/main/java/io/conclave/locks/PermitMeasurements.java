package io.conclave.locks;

import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.time.Duration;

/**
 * Measures one acquisition of permits for the metrics hook: how long it waited, how long it held, and how that ended.
 * State belongs to the dispatcher.
 */
final class PermitMeasurements {
    private final RecipeSession session;
    private final String path;
    private final long enteredNanos;
    private long heldSinceNanos;

    PermitMeasurements(RecipeSession session, NodePath path) {
        this.session = session;
        this.path = path.toString();
        this.enteredNanos = session.time().monotonicNanos();
    }

    /** The transaction was not answered, and its outcome is read. */
    void recovering() {
        session.metrics().count("semaphore.recover", path);
    }

    void granted() {
        heldSinceNanos = session.time().monotonicNanos();
        session.metrics().duration("semaphore.wait", path, Duration.ofNanos(heldSinceNanos - enteredNanos));
    }

    void noLongerHeld(LossReason reason) {
        long heldNanos = session.time().monotonicNanos() - heldSinceNanos;
        boolean isGivenBack = reason == LossReason.RELEASED || reason == LossReason.COORDINATOR_CLOSED;
        session.metrics().duration("semaphore.held", path, Duration.ofNanos(heldNanos));
        session.metrics().count(isGivenBack ? "semaphore.released" : "semaphore.lost", path);
    }
}
