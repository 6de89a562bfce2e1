package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import java.time.Duration;

/** Measures one contender for the metrics hook: how long it waited, how long it held, and how that ended. State belongs to the dispatcher. */
final class LineMeasurements {
    private final RecipeSession session;
    private final String line;
    private final long enteredNanos;
    private long heldSinceNanos;

    LineMeasurements(RecipeSession session, NodePath line) {
        this.session = session;
        this.line = line.toString();
        this.enteredNanos = session.time().monotonicNanos();
    }

    /** The creation was not answered, and what came of it is looked for. */
    void recovering() {
        session.metrics().count("line.recover", line);
    }

    void granted() {
        heldSinceNanos = session.time().monotonicNanos();
        session.metrics().duration("line.wait", line, Duration.ofNanos(heldSinceNanos - enteredNanos));
    }

    /** What another one held is ours, without a wait. */
    void tookOver() {
        heldSinceNanos = session.time().monotonicNanos();
    }

    void noLongerHeld(LossReason reason) {
        long heldNanos = session.time().monotonicNanos() - heldSinceNanos;
        session.metrics().duration("line.held", line, Duration.ofNanos(heldNanos));
        session.metrics().count(reason == LossReason.RELEASED ? "grant.released" : "grant.lost", line);
    }
}
