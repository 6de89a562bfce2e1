package io.conclave.line;

import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.time.Duration;

/** Measures one contender for the metrics hook: how long it waited, how long it held, and how that ended. State belongs to the dispatcher. */
final class LineMeasurements {
    private final RecipeSession session;
    private final String line;
    private final String name;
    private final long enteredNanos;
    private long heldSinceNanos;

    LineMeasurements(RecipeSession session, NodePath line, String name) {
        this.session = session;
        this.line = line.toString();
        this.name = name;
        this.enteredNanos = session.time().monotonicNanos();
    }

    /** The reply to the creation was lost; the line is read to find out whether the znode was created. */
    void recovering() {
        session.metrics().count(name + ".recover", line);
    }

    void granted() {
        heldSinceNanos = session.time().monotonicNanos();
        session.metrics().duration(name + ".wait", line, Duration.ofNanos(heldSinceNanos - enteredNanos));
    }

    /** What another one held is ours, without a wait. */
    void tookOver() {
        heldSinceNanos = session.time().monotonicNanos();
    }

    /** Whether the holder wanted it: it released the grant, or closed its coordinator. */
    private static boolean isGivenBack(LossReason reason) {
        return reason == LossReason.RELEASED || reason == LossReason.COORDINATOR_CLOSED;
    }

    void noLongerHeld(LossReason reason) {
        long heldNanos = session.time().monotonicNanos() - heldSinceNanos;
        session.metrics().duration(name + ".held", line, Duration.ofNanos(heldNanos));
        session.metrics().count(name + (isGivenBack(reason) ? ".released" : ".lost"), line);
    }
}
