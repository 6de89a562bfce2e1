package io.conclave.testkit.memory;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the watchers of one session what happened, and after an interruption what they missed. Guarded by the store's
 * lock; watchers are called on the dispatcher.
 */
final class WatchReports {
    private final MemoryWatches watches = new MemoryWatches();
    private final ReplyLine replies;
    private final Executor dispatcher;
    private long seenZxid;

    WatchReports(ReplyLine replies, Executor dispatcher) {
        this.replies = replies;
        this.dispatcher = dispatcher;
    }

    /** At the server, when a request has been executed: the watch that it sets, if any. */
    MemoryWatches.@Nullable Watch onExecuted(Request<?> request, Object answer) {
        if (request instanceof RemoveWatch remove) {
            remove(remove);
        }
        return MemoryStore.watchOf(request, answer, watches);
    }

    private void remove(RemoveWatch remove) {
        if (!watches.remove(remove.path(), remove.watcher())) {
            throw new RefusedException(RefusalReason.NO_WATCHER, "no such watcher on " + remove.path());
        }
        NodeEvent event = new NodeEvent(NodeEvent.Type.WATCH_REMOVED, remove.path(), -1);
        replies.deliver(() -> dispatcher.execute(() -> remove.watcher().onEvent(event)));
    }

    /** At the client, when an answer has come through. */
    void onAnswer(long zxid, MemoryWatches.@Nullable Watch watch) {
        seenZxid = Math.max(seenZxid, zxid);
        if (watch != null) {
            watch.confirmed = true;
        }
    }

    /** At the server, when the tree has changed; whether the session is told. */
    boolean onTreeEvent(NodeEvent event, Supplier<Boolean> mayRead) {
        List<MemoryWatches.Watch> fired = watches.fire(event);
        if (fired.isEmpty() || !mayRead.get()) {
            return false;
        }
        replies.deliver(() -> report(event, fired));
        return true;
    }

    private void report(NodeEvent event, List<MemoryWatches.Watch> fired) {
        watches.delivered(fired);
        seenZxid = Math.max(seenZxid, event.zxid());
        Set<Watcher> watchers = new HashSet<>();
        for (MemoryWatches.Watch watch : fired) {
            if (watchers.add(watch.watcher)) {
                dispatcher.execute(() -> watch.watcher.onEvent(event));
            }
        }
    }

    /** On a new connection: the difference between the tree and what the session has seen. */
    void reportMissed(MemoryTree tree, long lastZxid) {
        for (MemoryWatches.Missed missed : watches.missed(tree, seenZxid)) {
            NodeEvent event = new NodeEvent(missed.type(), missed.watch().path, -1);
            replies.deliver(() -> report(event, List.of(missed.watch())));
        }
        seenZxid = lastZxid;
    }

    void connectionLost() {
        watches.connectionLost();
    }

    void clear() {
        watches.clear();
    }

    int size() {
        return watches.size();
    }
}
