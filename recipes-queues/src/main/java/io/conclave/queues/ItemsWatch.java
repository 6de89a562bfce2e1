package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.AddWatch;
import io.conclave.request.GetChildren;
import io.conclave.request.Watcher;
import io.conclave.spi.Capability;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists the items of a queue for the process whose turn it is, with a watch on them, of one of two kinds:
 *
 * <ul>
 *   <li>{@link #look} sets a watch that fires once: while it stands, the list is as it was, or the event is on its way.
 *   <li>{@link #follow} sets a persistent watch whose events name what was created or deleted, so that the looker can
 *       keep its list up to date without reading it again. Events are missed while the connection is away:
 *       {@link #stopFollowing} is called then.
 * </ul>
 *
 * <p>State belongs to the session's dispatcher.
 */
final class ItemsWatch {
    private final RecipeSession session;
    private final QueueLayout layout;
    private final NodePath queue;
    private final LineTurn turn;
    private final Looker looker;
    private final Watcher watcher = this::onEvent;
    private boolean looking;
    private boolean standing;
    private boolean followingRefused;
    private @Nullable Follower follower;

    /** The reader of the list; called on the dispatcher. */
    interface Looker {
        /** The names of all that is in the queue now. */
        void onListed(Collection<String> names);

        /** A child of the queue was created since the list was read. */
        default void onCreated(String name) {}

        /** A child of the queue was deleted since the list was read. */
        default void onDeleted(String name) {}

        /** The list is out of date, or could not be read this time: a consumer or producer that needs one reads it. */
        void onUnlisted();

        /** It cannot be read. */
        void onListRefused(Throwable cause);
    }

    ItemsWatch(RecipeSession session, QueueLayout layout, LineTurn turn, Looker looker) {
        this.session = session;
        this.layout = layout;
        this.queue = layout.path();
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
        stopFollowing();
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

    /** Whether the looker hears of each item that comes and goes. */
    boolean isFollowing() {
        return follower != null;
    }

    boolean canFollow() {
        return session.has(Capability.PERSISTENT_WATCHES) && !followingRefused;
    }

    /** Lists the items, and tells of each that comes and goes from then on. */
    void follow() {
        looking = true;
        Follower current = follower;
        if (current == null) {
            current = new Follower();
            follower = current;
            session.send(new AddWatch(queue, true, current), done -> {}, current::onNotSet);
        }
        current.list();
    }

    /** Events may have been missed, or are not wanted any more. */
    void stopFollowing() {
        Follower ended = follower;
        if (ended != null) {
            follower = null;
            session.unwatch(queue, ended);
        }
    }

    /** The persistent watch; a new one each time, because the removal of the last may still be on its way. */
    private final class Follower implements Watcher {
        /** What has changed while the list is on its way, by name: whether it is there. The list may be older. */
        private final Map<String, Boolean> changes = new HashMap<>();

        void list() {
            changes.clear();
            session.send(
                    GetChildren.of(queue),
                    children -> {
                        looking = false;
                        if (follower != this) {
                            looker.onUnlisted();
                            return;
                        }
                        Set<String> names = new HashSet<>(children.names());
                        changes.forEach((name, isThere) -> {
                            if (isThere) {
                                names.add(name);
                            } else {
                                names.remove(name);
                            }
                        });
                        looker.onListed(names);
                    },
                    cause -> {
                        stopFollowing();
                        onNotListed(cause);
                    });
        }

        void onNotSet(Throwable cause) {
            if (cause instanceof RefusedException) {
                followingRefused = true; // the list is read each time, as without such watches
            }
            if (follower == this) {
                stopFollowing();
            }
        }

        @Override
        public void onEvent(NodeEvent event) {
            if (follower != this) {
                return;
            }
            if (event.path().equals(queue)) {
                onQueueEvent(event.type());
                return;
            }
            if (!event.path().parent().equals(Optional.of(queue))) {
                return;
            }
            if (event.type() == NodeEvent.Type.CREATED) {
                changed(event.path().name(), true);
            } else if (event.type() == NodeEvent.Type.DELETED) {
                changed(event.path().name(), false);
            }
        }

        /** That its data was written says nothing of the items. Otherwise it was deleted. */
        private void onQueueEvent(NodeEvent.Type type) {
            if (type == NodeEvent.Type.DATA_CHANGED) {
                return;
            }
            stopFollowing();
            if (!looking) {
                looker.onUnlisted();
            } // else the list tells
        }

        private void changed(String name, boolean isThere) {
            if (looking) {
                changes.put(name, isThere);
            } else if (isThere) {
                looker.onCreated(name);
            } else {
                looker.onDeleted(name);
            }
        }
    }

    private void onNotListed(Throwable cause) {
        looking = false;
        standing = false;
        if (cause instanceof OutcomeUnknownException) {
            looker.onUnlisted();
        } else if (Failures.isNoNode(cause) && layout.isApart()) {
            makeQueue();
        } else if (Failures.isNoNode(cause)) {
            turn.leave(); // all of it was deleted
            looker.onUnlisted();
        } else {
            looker.onListRefused(cause);
        }
    }

    /** Nothing was put yet, or the queue was deleted: a znode must be there to be watched. */
    private void makeQueue() {
        looking = true;
        Waiting.whenDone(
                layout.makeQueue(session),
                made -> {
                    looking = false;
                    looker.onUnlisted();
                },
                cause -> {
                    looking = false;
                    looker.onListRefused(cause);
                });
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
        stopFollowing();
    }

    /** Removes the watches. */
    void stop() {
        stopFollowing();
        if (standing) {
            standing = false;
            session.unwatch(queue, watcher);
        }
    }
}
