package io.conclave.line;

import io.conclave.recipe.RecipeSession;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The holders of one session that do not watch their znodes yet. A watch costs a request and an event, a third of what
 * the shortest hold needs, so it is set when a hold has lasted for {@link #MOMENT}; what was done to the znode before
 * is heard then. One timer serves all.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class YoungHolds {
    static final Duration MOMENT = Duration.ofMillis(10);

    private final RecipeSession session;
    private final Queue<Hold> holds = new ArrayDeque<>(); // oldest first
    private boolean isTimed;

    private record Hold(OwnNode own, long sinceNanos) {}

    private YoungHolds(RecipeSession session) {
        this.session = session;
    }

    /** Those of a session. */
    static YoungHolds of(RecipeSession session) {
        return session.keep(YoungHolds.class, () -> new YoungHolds(session));
    }

    void add(OwnNode own) {
        holds.add(new Hold(own, session.time().monotonicNanos()));
        if (!isTimed) {
            lookIn(MOMENT.toNanos());
        }
    }

    private void lookIn(long nanos) {
        isTimed = true;
        session.time().schedule(Duration.ofNanos(nanos), this::onTime);
    }

    /** Holds end with their session; and then the executor of the callbacks may be shut down. */
    private void onTime() {
        if (session.state().isLive()) {
            session.execute(this::look);
        }
    }

    private void look() {
        isTimed = false;
        long now = session.time().monotonicNanos();
        for (Hold oldest = holds.peek(); oldest != null; oldest = holds.peek()) {
            long untilWatched = oldest.sinceNanos + MOMENT.toNanos() - now;
            if (oldest.own.isHeld() && untilWatched > 0) {
                lookIn(untilWatched);
                return;
            }
            holds.remove();
            oldest.own.watchHold();
        }
    }
}
