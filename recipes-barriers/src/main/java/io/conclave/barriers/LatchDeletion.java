package io.conclave.barriers;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Deletes a latch, many znodes at a time; whatever has changed meanwhile is looked at again. A latch that is made at
 * the path afterwards is left alone: the one that is found first is known by its creation, and each deletion is sent on
 * condition of the version of its znode, which is raised from 0 before. State belongs to the session's dispatcher.
 */
final class LatchDeletion {
    private static final int BATCH = 200;

    private final RecipeSession session;
    private final LatchLayout layout;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private long czxid; // of the latch that was found first
    private boolean isLatch; // what was found is known to be one

    LatchDeletion(RecipeSession session, LatchLayout layout) {
        this.session = session;
        this.layout = layout;
    }

    CompletableFuture<Void> begin() {
        session.execute(this::look);
        return session.onListenerThread("deleting " + layout.path(), done);
    }

    private void look() {
        session.send(
                GetData.of(layout.path()).linearizable(),
                node -> {
                    if (isIt(node.stat())) {
                        recognise(node);
                    }
                },
                Failures.ifNoNode(() -> done.complete(null), this::onFailure));
    }

    /** Whether it is the latch that was found first; if it is a later one, there is nothing left to do. */
    private boolean isIt(NodeStat stat) {
        if (czxid == 0) {
            czxid = stat.czxid();
        }
        if (stat.czxid() != czxid) {
            done.complete(null);
        }
        return stat.czxid() == czxid;
    }

    /**
     * Others may keep a number of their own at the path. So it is a latch if it has a part of one, or holds this
     * very count: an interrupted deletion leaves it without parts.
     */
    private void recognise(GetData.NodeData node) {
        if (isLatch || Arrays.equals(node.data(), layout.data())) {
            isLatch = true;
            mark(node);
            return;
        }
        session.send(
                GetChildren.of(layout.path()),
                children -> {
                    if (layout.partAmong(children.names()).isPresent()) {
                        isLatch = true;
                        mark(node);
                    } else {
                        done.completeExceptionally(new IllegalArgumentException("Invalid latch " + layout.path()
                                + ": it holds \"" + node.bytes().text() + "\" instead of the count " + layout.count()
                                + ", and has no znode \"" + LatchLayout.NAMES
                                + "\" or \"of-<count>\", so it is not deleted"));
                    }
                },
                this::onFailure);
    }

    /**
     * Has the latch carry a version that no new one has. The write arrives late if the connection drops: it must not
     * name its count in a later one that was made for another count, so it depends on the parent of its counts.
     */
    private void mark(GetData.NodeData node) {
        if (node.stat().version() != 0) {
            empty(node.stat().version());
            return;
        }
        Optional<NodePath> counts = layout.countsOf(node.data());
        List<Operation<?>> operations = new ArrayList<>();
        counts.ifPresent(parent -> operations.add(Check.exists(parent)));
        operations.add(new SetData(layout.path(), node.data(), 0));
        session.send(
                new Multi(operations),
                results -> results.get(operations.size() - 1)
                        .stat()
                        .filter(this::isIt)
                        .ifPresent(stat -> empty(stat.version())),
                cause -> {
                    if (Failures.is(cause, RefusalReason.NO_NODE, 0) && counts.isPresent()) {
                        makeAgain(counts.get());
                    } else {
                        onNotMarked(cause);
                    }
                });
    }

    /** Unless the latch is gone, another client has deleted the parent of its counts, and without it no mark. */
    private void makeAgain(NodePath counts) {
        session.send(Create.of(counts), created -> look(), this::onNotMarked);
    }

    private void onNotMarked(Throwable cause) {
        if (Failures.is(cause, RefusalReason.NO_AUTH)) {
            empty(0); // a client that may only delete deletes by the path
        } else {
            onFailure(cause);
        }
    }

    private void empty(int version) {
        session.send(
                GetChildren.of(layout.path()),
                children -> layout.partAmong(children.names())
                        .ifPresentOrElse(part -> empty(part, version), () -> deleteItself(children, version)),
                this::onFailure);
    }

    /** If it has children that are none of its parts, the store refuses this, and would do so each time. */
    private void deleteItself(GetChildren.Children others, int version) {
        session.send(Delete.of(layout.path()).withVersion(version), deleted -> done.complete(null), cause -> {
            if (Failures.is(cause, RefusalReason.NOT_EMPTY) && !others.names().isEmpty()) {
                done.completeExceptionally(cause);
            } else {
                onFailure(cause);
            }
        });
    }

    private void empty(NodePath parent, int version) {
        session.send(
                GetChildren.of(parent),
                children -> {
                    if (children.names().isEmpty()) {
                        delete(List.of(parent), version, () -> empty(version));
                    } else {
                        deleteSome(parent, children.names(), version);
                    }
                },
                this::onFailure);
    }

    private void deleteSome(NodePath parent, List<String> names, int version) {
        List<NodePath> some = names.stream().limit(BATCH).map(parent::child).toList();
        delete(some, version, () -> empty(parent, version));
    }

    private void delete(List<NodePath> paths, int version, Runnable next) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(new Check(layout.path(), version));
        paths.forEach(path -> operations.add(Delete.of(path)));
        session.send(new Multi(operations), results -> next.run(), cause -> {
            boolean isBelowACount =
                    paths.get(0).parent().filter(layout.path()::equals).isEmpty();
            if (Failures.is(cause, RefusalReason.NOT_EMPTY) && isBelowACount) {
                done.completeExceptionally(cause); // nothing of ours is below a count: it would be refused each time
            } else {
                onFailure(cause);
            }
        });
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof OutcomeUnknownException || Failures.isStateChanged(cause)) {
            look(); // it has changed, or another client deletes it as well
        } else {
            done.completeExceptionally(cause);
        }
    }
}
