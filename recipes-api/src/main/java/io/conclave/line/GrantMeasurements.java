package io.conclave.line;

import io.conclave.error.LossReason;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.time.Duration;

/**
 * Measures one request for the metrics hook: how long it waited, how long it held, and how that ended. Its names are a
 * prefix with {@code .wait}, {@code .held}, {@code .released}, {@code .lost} and {@code .recover}. State belongs to the
 * dispatcher.
 */
public final class GrantMeasurements {
    private final RecipeSession session;
    private final String subject;
    private final String prefix;
    private final MetricsHook hook;
    private final GrantProgress progress;
    private final long enteredNanos;
    private long heldSinceNanos;

    /** Of a request that is made now. */
    public GrantMeasurements(RecipeSession session, NodePath subject, String prefix) {
        this.session = session;
        this.subject = subject.toString();
        this.prefix = prefix;
        this.hook = session.metrics();
        this.progress = new GrantProgress(hook, this.subject);
        this.enteredNanos = session.time().monotonicNanos();
    }

    /** How it goes on, while it lasts. */
    public GrantProgress progress() {
        return progress;
    }

    /** What its wait is called. */
    String waitName() {
        return prefix + ".wait";
    }

    /** A reply was lost; what the request has become is read. */
    public void recovering() {
        if (progress.isHeard()) {
            hook.count(prefix + ".recover", subject);
        }
    }

    /**
     * The wait begins, if it has not begun yet. On the caller's thread, before the dispatcher hears of the request, or
     * on the dispatcher.
     */
    public void waits() {
        if (progress.isHeard()) {
            progress.waits(waitName());
        }
    }

    public void granted() {
        heldSinceNanos = session.time().monotonicNanos();
        if (progress.isHeard()) {
            hook.duration(waitName(), subject, Duration.ofNanos(heldSinceNanos - enteredNanos));
            progress.granted(prefix + ".held");
        }
    }

    /** What another one held is ours, without a wait. */
    void tookOver() {
        heldSinceNanos = session.time().monotonicNanos();
        if (progress.isHeard()) {
            progress.hold(prefix + ".held");
        }
    }

    /** The wait is over in vain, if it was not over before. */
    public void notGranted(Throwable why, LossReason reason) {
        progress.notGranted(why, reason);
    }

    /** Whether the holder wanted it: it released the grant, or closed its coordinator. */
    private static boolean isGivenBack(LossReason reason) {
        return reason == LossReason.RELEASED || reason == LossReason.COORDINATOR_CLOSED;
    }

    public void noLongerHeld(LossReason reason) {
        if (progress.isHeard()) {
            long heldNanos = session.time().monotonicNanos() - heldSinceNanos;
            hook.duration(prefix + ".held", subject, Duration.ofNanos(heldNanos));
            hook.count(prefix + (isGivenBack(reason) ? ".released" : ".lost"), subject);
            progress.noLongerHeld(reason);
        }
    }
}
