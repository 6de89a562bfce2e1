package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.spi.SessionState;

/**
 * Goes on from one session of a coordinator to the next one when the former is lost.
 *
 * <p>State belongs to the dispatcher of the session that is followed at the time; it goes to the next one when the former has ended.
 */
abstract class SessionFollower {
    private final Coordinator coordinator;
    private volatile RecipeSession session; // written on a dispatcher only
    private Registration sessionListener = () -> {};
    private boolean ended;

    SessionFollower(Coordinator coordinator) {
        this.coordinator = coordinator;
        this.session = coordinator.recipeSession();
    }

    /** Begins with the present session. Never blocks; any thread. */
    final void follow() {
        follow(session);
    }

    private void follow(RecipeSession next) {
        next.execute(() -> {
            session = next;
            if (ended) {
                return;
            }
            sessionListener = next.onStateChange(state -> onSessionState(next, state));
            if (next.state().isLive()) {
                onSession(next);
            } else {
                onSessionState(next, next.state());
            }
        });
    }

    private void onSessionState(RecipeSession of, SessionState state) {
        if (state.isLive() || of != session || ended) {
            return;
        }
        sessionListener.close();
        onSessionEnded();
        if (state == SessionState.LOST) {
            follow(coordinator.recipeSession());
        } else {
            ended = true;
            onClosed();
        }
    }

    /** A session is there to work on. On its dispatcher. */
    abstract void onSession(RecipeSession next);

    /** Nothing sent to the last session is answered any more. */
    abstract void onSessionEnded();

    /** The coordinator was closed; nothing follows. */
    abstract void onClosed();

    /** Nothing more is to be done. On the dispatcher. */
    final void end() {
        ended = true;
        sessionListener.close();
    }

    final boolean isEnded() {
        return ended;
    }

    /** The session of now; any thread. */
    public final RecipeSession session() {
        return session;
    }

    /** Runs a task on the dispatcher of the session of then, once. Any thread. */
    final void execute(Runnable task) {
        RecipeSession on = session;
        on.execute(() -> {
            if (on == session) {
                task.run();
            } else {
                execute(task); // it has gone on meanwhile
            }
        });
    }
}
