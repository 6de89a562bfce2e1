package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.Holder;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import java.util.Optional;

/**
 * Tells the metrics hook how one request goes on: its wait begins and ends, and then its hold, each once. What comes
 * too late is ignored. Costs nothing if there is no hook.
 *
 * <p>State belongs to the session's dispatcher, once the wait has begun.
 */
public final class GrantProgress {
    private final MetricsHook hook;
    private final String subject;
    private Ongoing origin = Ongoing.NONE; // the wait, also when it is over
    private Ongoing present = Ongoing.NONE; // the wait or the hold; none before, and after its end
    private boolean begun;

    /** Of a request that has not begun. */
    public GrantProgress(MetricsHook hook, String subject) {
        this.hook = hook;
        this.subject = subject;
    }

    /** Whether anybody wants to know: if not, no text need be made. */
    public boolean isHeard() {
        return hook != MetricsHook.NONE;
    }

    /** The wait begins, if it has not begun. On the thread of the application's call, or on the dispatcher. */
    public void waits(String name) {
        waits(name, Ongoing.NONE);
    }

    /** As {@link #waits(String)}, as a part of something larger. */
    public void waits(String name, Ongoing cause) {
        if (!begun) {
            begun = true;
            origin = cause == Ongoing.NONE ? hook.begin(name, subject) : cause.next(name, subject);
            present = origin;
        }
    }

    /** What the wait comes of, for what is a part of it. */
    public Ongoing origin() {
        return origin;
    }

    /** What it waits for. */
    public void waitsFor(String obstacle, Optional<Holder> holder) {
        present.waitsFor(obstacle, holder);
    }

    /** Tells more of the wait or the hold. */
    public void detail(String key, String value) {
        present.detail(key, value);
    }

    /** The wait is over, and it holds. */
    public void granted(String heldName) {
        end(Outcome.GRANTED);
        hold(heldName);
    }

    /** It holds, in a place that another one had. */
    public void hold(String name) {
        present = origin == Ongoing.NONE ? hook.begin(name, subject) : origin.next(name, subject);
    }

    /** The wait is over, and what was waited for has come. There is no hold. */
    public void happened() {
        end(Outcome.GRANTED);
    }

    /** The wait is over in vain. */
    public void notGranted(Throwable why, LossReason reason) {
        if (present != Ongoing.NONE) {
            present.failed(why);
            end(outcomeOf(why, reason));
        }
    }

    /** The hold is over. */
    public void noLongerHeld(LossReason reason) {
        switch (reason) {
            case RELEASED -> end(Outcome.RELEASED);
            case COORDINATOR_CLOSED -> end(Outcome.CLOSED);
            case SESSION_LOST, NODE_DELETED, REVOKED, REFUSED, TIME_OVER -> {
                present.detail(Ongoing.REASON, reason.name());
                end(Outcome.LOST);
            }
        }
    }

    /** It is over, if it is not over yet. */
    public void end(Outcome outcome) {
        Ongoing ending = present;
        present = Ongoing.NONE;
        ending.end(outcome);
    }

    private static Outcome outcomeOf(Throwable why, LossReason reason) {
        if (reason == LossReason.COORDINATOR_CLOSED) {
            return Outcome.CLOSED;
        }
        if (why instanceof WaitTimeoutException) {
            return Outcome.TIMED_OUT;
        }
        boolean isLoss = reason == LossReason.SESSION_LOST
                || reason == LossReason.NODE_DELETED
                || reason == LossReason.REVOKED
                || why instanceof GrantLostException
                || why instanceof SessionGoneException;
        if (isLoss) {
            return Outcome.LOST;
        }
        return why instanceof ClosedException ? Outcome.GIVEN_UP : Outcome.FAILED;
    }
}
