package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.Sync;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a contender's znode away, and does not give up before it is gone or the session is: whatever stays behind would block everyone
 * after it.
 *
 * <p>A request that waits for a connection waits in the session's queue, so trying again does not spin. State belongs to the dispatcher.
 */
final class Departure {
    private static final Logger LOG = LoggerFactory.getLogger(Departure.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);

    private final RecipeSession session;
    private final NodePath line;
    private final Set<EntryKind> kinds;
    private final String guid;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private @Nullable NodePath path;
    private long czxid;

    Departure(RecipeSession session, NodePath line, Set<EntryKind> kinds, String guid) {
        this.session = session;
        this.line = line;
        this.kinds = kinds;
        this.guid = guid;
    }

    /** Completes when nothing is left. Never exceptionally. */
    CompletionStage<Void> done() {
        return done;
    }

    /** Whether the place is what is taken away here. */
    boolean isOf(LineEntry place) {
        return place.isOf(guid);
    }

    /** The contender has this znode. */
    void found(NodePath ourPath, long ourCzxid) {
        path = ourPath;
        czxid = ourCzxid;
    }

    /** There is nothing to delete (any more). */
    void nothingLeft() {
        done.complete(null);
    }

    /**
     * Deletes the znode that was found.
     *
     * @param readFirst whether the znode of that name may be another one by now, so that its creation zxid must be compared first
     */
    void delete(boolean readFirst) {
        NodePath ours = path;
        if (ours == null || done.isDone()) {
            return;
        }
        if (!readFirst) {
            session.send(Delete.of(ours), deleted -> nothingLeft(), cause -> onFailure(cause, () -> delete(true)));
            return;
        }
        session.send(
                GetData.of(ours),
                node -> {
                    if (node.stat().czxid() == czxid) {
                        delete(false);
                    } else {
                        nothingLeft(); // the name was given to somebody else: not ours to delete
                    }
                },
                cause -> onFailure(cause, () -> delete(true)));
    }

    /** A creation was not answered: finds by the guid what came of it, as whatever kind, and deletes that. */
    void searchAndDelete() {
        // One after the other: a list that came by another connection than the sync may be older than the creation.
        session.send(Sync.of(line), synced -> listAndDelete(), cause -> onFailure(cause, this::searchAndDelete));
    }

    private void listAndDelete() {
        session.send(
                GetChildren.of(line),
                children -> deleteAll(children.names()),
                cause -> onFailure(cause, this::searchAndDelete));
    }

    private void deleteAll(List<String> names) {
        List<LineEntry> ours = LineEntry.of(guid, kinds, names);
        if (ours.isEmpty()) {
            nothingLeft();
            return;
        }
        CompletableFuture<?>[] deletions = ours.stream()
                .map(entry ->
                        session.submit(Delete.of(line.child(entry.name()))).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(deletions).whenComplete((all, failure) -> {
            if (failure == null) {
                nothingLeft();
            } else if (ours.size() > 1 && Refusals.isNoNode(Waiting.cause(failure))) {
                searchAndDelete(); // one is gone; what became of the others is not known from that
            } else {
                onFailure(Waiting.cause(failure), this::searchAndDelete);
            }
        });
    }

    /** A second znode of the same guid, made by a creation that was sent twice. */
    void deleteSurplus(NodePath surplus) {
        session.send(Delete.of(surplus), deleted -> {}, cause -> {
            if (cause instanceof OutcomeUnknownException) {
                deleteSurplus(surplus);
            }
        });
    }

    private void onFailure(Throwable cause, Runnable again) {
        if (cause instanceof OutcomeUnknownException) {
            again.run();
        } else if (cause instanceof SessionGoneException || cause instanceof ClosedException) {
            nothingLeft();
        } else if (Refusals.isNoNode(cause)) {
            nothingLeft();
        } else if (Refusals.mayPass(cause)) {
            LOG.warn("Cannot delete the place {} in {} yet, trying again: {}", guid, line, cause.getMessage());
            session.time().schedule(RETRY_DELAY, () -> session.execute(again));
        } else {
            LOG.error("Cannot delete the place {} in {}; it stays until the session ends", guid, line, cause);
            nothingLeft();
        }
    }
}
