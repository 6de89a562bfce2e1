package io.conclave.metrics;

import io.conclave.error.Holder;
import java.util.Optional;

/**
 * Something that lasts, from {@link MetricsHook#begin} to {@link #end}: a wait, or a hold. An adapter implements it, to
 * show what is awaited and held now, or to make a span of it.
 *
 * <p>{@link #end} is called exactly once, on every path: granted, timed out, interrupted, cancelled, lost, released,
 * coordinator closed. All other methods but {@link #next} are called before it. All are called one after the other, on
 * the thread that serves the session, which must not be blocked; so an adapter needs no locks for what belongs to one
 * of these.
 */
public interface Ongoing {
    /** Ignores everything. */
    Ongoing NONE = new Ongoing() {};

    /** The key of the fencing token of a hold. */
    String TOKEN = "token";

    /** The key of the path of the own znode. */
    String ZNODE = "znode";

    /** The key of the reason of a loss: the name of a {@link io.conclave.error.LossReason}. */
    String REASON = "reason";

    /**
     * What it waits for now, as far as that is known without a request for it. Called again when that changes.
     *
     * @param obstacle in words, as in {@code held by "4711@host-a" (session 0x1, /locks/orders/...)}
     * @param holder the one that it waits for; empty if that is not one, as with a semaphore's permits
     */
    default void waitsFor(String obstacle, Optional<Holder> holder) {}

    /** What a wait ends with in vain, as its caller is told. */
    default void failed(Throwable why) {}

    /** Tells more of it. The keys are those above. */
    default void detail(String key, String value) {}

    /**
     * Something begins that comes of the same call of the application: the hold after the wait. Called before or after
     * {@link #end}, on the thread that serves the session; never in this object's own place.
     *
     * @return what is told how that goes on; {@link #NONE} if nobody wants to know
     */
    default Ongoing next(String name, String subject) {
        return NONE;
    }

    /** It is over. */
    default void end(Outcome outcome) {}
}
