package io.conclave.barriers;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Deletes a count-down, many znodes at a time; whatever has changed meanwhile is looked at again. State belongs to the session's dispatcher. */
final class CountDownDeletion {
    private static final int BATCH = 200;

    private final RecipeSession session;
    private final CountDownLayout layout;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    CountDownDeletion(RecipeSession session, CountDownLayout layout) {
        this.session = session;
        this.layout = layout;
    }

    CompletableFuture<Void> begin() {
        session.execute(this::look);
        return session.onListenerThread("deleting " + layout.path(), done);
    }

    private void look() {
        session.send(
                GetChildren.of(layout.path()),
                parents -> {
                    if (parents.names().isEmpty()) {
                        delete(layout.path(), () -> done.complete(null));
                    } else {
                        empty(layout.path().child(parents.names().get(0)));
                    }
                },
                cause -> onFailure(cause, () -> done.complete(null)));
    }

    private void empty(NodePath parent) {
        session.send(
                GetChildren.of(parent),
                children -> {
                    if (children.names().isEmpty()) {
                        delete(parent, this::look);
                    } else {
                        deleteSome(parent, children.names());
                    }
                },
                cause -> onFailure(cause, this::look));
    }

    private void deleteSome(NodePath parent, List<String> names) {
        Multi some = new Multi(names.stream()
                .limit(BATCH)
                .<Operation<?>>map(name -> Delete.of(parent.child(name)))
                .toList());
        session.send(some, results -> empty(parent), cause -> {
            if (Refusals.is(cause, RefusalReason.NOT_EMPTY)) {
                done.completeExceptionally(cause); // nothing of ours is below a count: it would be refused for ever
            } else {
                onFailure(cause, () -> empty(parent));
            }
        });
    }

    private void delete(NodePath empty, Runnable next) {
        session.send(Delete.of(empty), deleted -> next.run(), cause -> onFailure(cause, next));
    }

    /**
     * Goes on after a failure.
     *
     * @param whenGone what follows if the znode is not there any more
     */
    private void onFailure(Throwable cause, Runnable whenGone) {
        if (Refusals.isNoNode(cause)) {
            whenGone.run();
        } else if (cause instanceof OutcomeUnknownException || Refusals.isStateChanged(cause)) {
            look();
        } else {
            done.completeExceptionally(cause);
        }
    }
}
