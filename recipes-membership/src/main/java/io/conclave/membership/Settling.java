package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Waits until nobody has joined or left a group for a time: kazoo's PatientChildrenWatch.
 *
 * <p>A watch tells of a change at once, so the time begins anew with each. It is the znode's {@code pzxid}, the change
 * that last created or deleted a child, that decides: if it is the same at the end of the time as at its beginning,
 * nobody has come or gone in between, not even while the connection was away or the process was stopped.
 *
 * <p>State belongs to the dispatcher of the current session.
 */
final class Settling<P> implements SessionFollower.Work {
    private static final long NO_GROUP = -1;

    private final NodePath path;
    private final Duration quietPeriod;
    private final SessionFollower follower;
    private final Function<List<String>, CompletableFuture<List<Member<P>>>> reader;
    private final CompletableFuture<List<Member<P>>> settled = new CompletableFuture<>();
    private final Watcher watcher = this::onEvent;
    private long seen; // the pzxid; NO_GROUP, or 0 if nothing is known
    private TimeSource.Timer timer = () -> {};
    private int looks; // only the answer of the last one counts

    /**
     * Nothing is sent yet.
     *
     * @param reader of the members of these names, with their payloads, in the order of the names; those that have left
     *     are not among them
     */
    Settling(
            Coordinator coordinator,
            NodePath path,
            Duration quietPeriod,
            Function<List<String>, CompletableFuture<List<Member<P>>>> reader) {
        this.path = path;
        this.quietPeriod = Waiting.checkedTimeout(quietPeriod);
        this.reader = reader;
        this.follower = new SessionFollower(coordinator, this);
    }

    /** Begins. Completes on a listener thread; ending it in another way ends the wait. Never blocks. */
    CompletableFuture<List<Member<P>>> begin() {
        CompletableFuture<List<Member<P>>> stage = follower.session().onListenerThread("settling of " + path, settled);
        stage.whenComplete((members, failure) -> follower.execute(this::end));
        follower.follow();
        return stage;
    }

    @Override
    public void onSession(RecipeSession next) {
        look(next, false);
    }

    /** A group that did not exist has no {@code pzxid}: while the connection was away it may have come and gone. */
    @Override
    public void onLiveState(SessionState state) {
        if (state == SessionState.CONNECTED && seen == NO_GROUP) {
            look(follower.session(), false);
        }
    }

    @Override
    public void onSessionEnded() {
        timer.cancel();
    }

    @Override
    public void onClosed() {
        settled.completeExceptionally(
                new ClosedException("The coordinator was closed before the group " + path + " had settled"));
    }

    /**
     * Reads the names and watches them.
     *
     * @param isEnd whether the quiet period is over if nothing is different
     */
    private void look(RecipeSession on, boolean isEnd) {
        timer.cancel();
        int look = ++looks;
        on.readLatest(
                path,
                GetChildren.of(path).withWatcher(watcher),
                children -> onSeen(on, look, children.stat().pzxid(), children.names(), isEnd),
                cause -> {
                    if (Failures.isNoNode(cause) && isCurrent(on, look)) {
                        watchForGroup(on, look, isEnd);
                    } else {
                        onFailure(on, look, cause);
                    }
                });
    }

    private void watchForGroup(RecipeSession on, int look, boolean isEnd) {
        on.read(
                Exists.of(path).withWatcher(watcher),
                stat -> {
                    if (stat.isEmpty()) {
                        onSeen(on, look, NO_GROUP, List.of(), isEnd);
                    } else if (isCurrent(on, look)) {
                        look(on, isEnd);
                    } else {
                        onSeenTooLate(on);
                    }
                },
                cause -> onFailure(on, look, cause));
    }

    private boolean isCurrent(RecipeSession on, int look) {
        return follower.isCurrent(on) && look == looks;
    }

    /** The read was sent after the end, and has set the watch again. */
    private void onSeenTooLate(RecipeSession on) {
        if (follower.isEnded()) {
            on.unwatch(path, watcher);
        }
    }

    private void onSeen(RecipeSession on, int look, long pzxid, List<String> names, boolean isEnd) {
        if (!isCurrent(on, look)) {
            onSeenTooLate(on);
            return;
        }
        boolean isSame = pzxid == seen;
        seen = pzxid;
        if ((isSame && isEnd) || quietPeriod.isZero()) {
            readMembers(on, look, names);
        } else {
            timer = on.time()
                    .schedule(
                            quietPeriod,
                            () -> on.execute(() -> {
                                if (isCurrent(on, look)) {
                                    look(on, true);
                                }
                            }));
        }
    }

    private void readMembers(RecipeSession on, int look, List<String> names) {
        Waiting.whenDone(
                reader.apply(names),
                members -> on.execute(() -> {
                    if (isCurrent(on, look) && (members.size() == names.size() || quietPeriod.isZero())) {
                        settled.complete(members);
                    } else if (isCurrent(on, look)) {
                        look(on, false); // one has left
                    }
                }),
                cause -> on.execute(() -> onFailure(on, look, cause)));
    }

    private void onFailure(RecipeSession on, int look, Throwable cause) {
        if (!isCurrent(on, look) || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        String what = "the wait for " + path + " to settle";
        Consumer<Throwable> refused = refusal -> settled.completeExceptionally(Failures.known(refusal, what));
        Runnable again = () -> {
            if (isCurrent(on, look)) {
                look(on, false);
            }
        };
        Retry.ifItMayPass(on, "settling of " + path, cause, again, refused);
    }

    private void onEvent(NodeEvent event) {
        boolean isListening = !quietPeriod.isZero() && !follower.isEnded(); // else the first list counts
        if (isListening && event.type() != NodeEvent.Type.WATCH_REMOVED) {
            look(follower.session(), false);
        }
    }

    private void end() {
        if (!follower.isEnded()) {
            timer.cancel();
            follower.end();
            follower.session().unwatch(path, watcher);
        }
    }

    @Override
    public String toString() {
        return "Settling[" + path + ", quiet for " + Waiting.text(quietPeriod) + "]";
    }
}
