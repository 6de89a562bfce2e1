package io.conclave.recovery;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.recipe.RecipeSession;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;

/**
 * Goes on from one session of a coordinator to the next one when the former is lost, for work that owns nothing that
 * could be lost with a session, or makes it again.
 *
 * <p>State belongs to the dispatcher of the current session: the one that is followed now. It changes when the one
 * before has ended.
 */
public final class SessionFollower {
    private final Coordinator coordinator;
    private final Work work;
    private volatile RecipeSession session; // written on a dispatcher only
    private Registration sessionListener = () -> {};
    private boolean ended;

    /** What is done on each session. It is called on the dispatcher of the current session. */
    public interface Work {
        /** A session is there to work on. */
        void onSession(RecipeSession next);

        /** The current session is connected, or suspended; not told of the state in which the work began. */
        default void onLiveState(SessionState state) {}

        /**
         * The current session is gone: nothing that was sent over it is answered any more. The next one follows, or
         * {@link #onClosed}.
         */
        default void onSessionEnded() {}

        /** The coordinator was closed; nothing follows. */
        void onClosed();
    }

    /** Nothing is followed yet. */
    public SessionFollower(Coordinator coordinator, Work work) {
        this.coordinator = coordinator;
        this.work = work;
        this.session = RecipeAccess.session(coordinator);
    }

    /** Begins with the session that was present when this was made. Never blocks; any thread. */
    public void follow() {
        follow(session);
    }

    /**
     * As {@link #follow()}, but begins before it returns if it is called on that session's dispatcher: what is sent so
     * goes out before the coordinator is closed by a call that came later than the one that it is sent for.
     */
    public void followAtOnce() {
        if (session.isDispatcherThread()) {
            begin(session);
        } else {
            follow();
        }
    }

    private void follow(RecipeSession next) {
        session = next; // before its dispatcher is asked: a task of execute() from now on runs there, too
        next.execute(() -> begin(next));
    }

    private void begin(RecipeSession on) {
        if (ended) {
            return;
        }
        sessionListener = on.onStateChange(state -> onSessionState(on, state));
        if (on.state().isLive()) {
            work.onSession(on);
        } else {
            onSessionState(on, on.state());
        }
    }

    private void onSessionState(RecipeSession of, SessionState state) {
        if (!isCurrent(of)) {
            return;
        }
        if (state.isLive()) {
            work.onLiveState(state);
            return;
        }
        sessionListener.close();
        work.onSessionEnded();
        if (state == SessionState.LOST) {
            follow(RecipeAccess.session(coordinator));
        } else {
            ended = true;
            work.onClosed();
        }
    }

    /** Whether this is the session of now, and the work goes on. On its dispatcher. */
    public boolean isCurrent(RecipeSession of) {
        return of == session && !ended;
    }

    /** Nothing more is to be done. On the dispatcher. */
    public void end() {
        ended = true;
        sessionListener.close();
    }

    /** Whether nothing more is to be done. On the dispatcher. */
    public boolean isEnded() {
        return ended;
    }

    /** The current session. Any thread. */
    public RecipeSession session() {
        return session;
    }

    /** Runs a task on the dispatcher of the current session, once. Any thread. */
    public void execute(Runnable task) {
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
