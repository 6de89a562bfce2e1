package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.GetChildren;
import io.conclave.request.Watcher;
import java.util.List;

/**
 * Lists the items of a queue for the process whose turn it is, with a watch on them: while it stands, the list is as it
 * was, or one that is told will be along.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class ItemsWatch {
    private final RecipeSession session;
    private final NodePath queue;
    private final ConsumerTurn turn;
    private final Looker looker;
    private final Watcher watcher = this::onEvent;
    private boolean looking;
    private boolean standing;

    /** The reader of the list; called on the dispatcher. */
    interface Looker {
        /** The names of all that is in the queue now. */
        void onListed(List<String> names);

        /** The list holds no longer, or could not be read this time: a consumer that needs one reads again. */
        void onUnlisted();

        /** It cannot be read. */
        void onListRefused(Throwable cause);
    }

    ItemsWatch(RecipeSession session, NodePath queue, ConsumerTurn turn, Looker looker) {
        this.session = session;
        this.queue = queue;
        this.turn = turn;
        this.looker = looker;
    }

    /** Whether a list is on its way; the looker is told what comes of it. */
    boolean isLooking() {
        return looking;
    }

    /** Whether the looker hears of a change to what was listed last. */
    boolean isStanding() {
        return standing;
    }

    /** Lists the items and sets the watch; to set it again is no second watch. */
    void look() {
        looking = true;
        standing = true;
        session.send(
                GetChildren.of(queue).withWatcher(watcher),
                children -> {
                    looking = false;
                    looker.onListed(children.names());
                },
                this::onNotListed);
    }

    private void onNotListed(Throwable cause) {
        looking = false;
        standing = false;
        if (cause instanceof OutcomeUnknownException) {
            looker.onUnlisted();
        } else if (Failures.isNoNode(cause)) {
            turn.leave(); // all of it was deleted
            looker.onUnlisted();
        } else {
            looker.onListRefused(cause);
        }
    }

    private void onEvent(NodeEvent event) {
        if (event.type() == NodeEvent.Type.WATCH_REMOVED) {
            return;
        }
        standing = false;
        if (turn.isHeld()) {
            looker.onUnlisted();
        }
    }

    /** What was listed last is known not to hold, whatever the watch tells. */
    void disregard() {
        standing = false;
    }

    /** Removes the watch. */
    void stop() {
        if (standing) {
            standing = false;
            session.unwatch(queue, watcher);
        }
    }
}
