package io.conclave.membership;

import io.conclave.cache.CachedNode;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.Done;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** The group's own znode and all of its children at once: create, read, delete. What has failed by a lost connection or session is done again: each is as good twice as once. */
final class GroupNode {
    /** So often is a deletion begun again because somebody has joined meanwhile, or the connection went. */
    private static final int MOST_ROUNDS = 100;

    private final Coordinator coordinator;
    private final NodePath path;

    GroupNode(Coordinator coordinator, NodePath path) {
        this.coordinator = coordinator;
        this.path = path;
    }

    private RecipeSession session() {
        return coordinator.recipeSession();
    }

    CompletableFuture<Boolean> create() {
        return onListenerThread(create(false, 1));
    }

    /** Answers whether we created it; if it was tried before without an answer, that may have been us. */
    private CompletionStage<Boolean> create(boolean maybeCreated, int round) {
        return session().submit(Create.of(path)).thenApply(created -> true).exceptionallyCompose(failure -> {
            Throwable cause = Waiting.cause(failure);
            if (Refusals.is(cause, RefusalReason.NODE_EXISTS)) {
                return CompletableFuture.completedFuture(maybeCreated);
            }
            if (Refusals.isNoNode(cause) && path.parent().isPresent() && round < MOST_ROUNDS) {
                return ParentMaker.makePersistent(session(), path.parent().get())
                        .thenCompose(done -> create(maybeCreated, round + 1));
            }
            return isToBeRepeated(cause, round) ? create(true, round + 1) : CompletableFuture.failedFuture(cause);
        });
    }

    private static boolean isToBeRepeated(Throwable cause, int round) {
        return round < MOST_ROUNDS
                && (cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException);
    }

    CompletableFuture<List<CachedNode>> read() {
        return onListenerThread(coordinator
                .recipeRead(GetChildren.of(path))
                .thenCompose(children -> readAll(children.names()))
                .exceptionallyCompose(failure -> {
                    Throwable cause = Waiting.cause(failure);
                    return Refusals.isNoNode(cause)
                            ? CompletableFuture.completedFuture(List.of())
                            : CompletableFuture.failedFuture(cause);
                }));
    }

    private CompletionStage<List<CachedNode>> readAll(List<String> names) {
        CompletableFuture<List<CachedNode>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (String name : names.stream().sorted().toList()) {
            all = all.thenCombine(readOne(path.child(name)), (nodes, node) -> {
                node.ifPresent(nodes::add);
                return nodes;
            });
        }
        return all;
    }

    private CompletionStage<Optional<CachedNode>> readOne(NodePath member) {
        return coordinator
                .recipeRead(GetData.of(member))
                .thenApply(node -> Optional.of(new CachedNode(member, node.bytes(), node.stat())))
                .exceptionallyCompose(failure -> {
                    Throwable cause = Waiting.cause(failure);
                    return Refusals.isNoNode(cause)
                            ? CompletableFuture.completedFuture(Optional.empty()) // it has just left
                            : CompletableFuture.failedFuture(cause);
                });
    }

    CompletableFuture<Boolean> delete() {
        return onListenerThread(delete(false, 1));
    }

    private CompletionStage<Boolean> delete(boolean wasThere, int round) {
        return session()
                .submit(GetChildren.of(path))
                .handle((children, failure) -> failure == null
                        ? deleteListed(children.names(), round)
                        : onNotListed(Waiting.cause(failure), wasThere, round))
                .thenCompose(Function.identity());
    }

    private CompletionStage<Boolean> onNotListed(Throwable cause, boolean wasThere, int round) {
        if (Refusals.isNoNode(cause)) {
            return CompletableFuture.completedFuture(wasThere);
        }
        return isToBeRepeated(cause, round) ? delete(wasThere, round + 1) : CompletableFuture.failedFuture(cause);
    }

    /** It was there: if it is gone now, the server has deleted the emptied container, or somebody was quicker. */
    private CompletionStage<Boolean> deleteListed(List<String> names, int round) {
        return deleteAll(names).thenCompose(done -> deleteEmpty()).exceptionallyCompose(failure -> {
            Throwable cause = Waiting.cause(failure);
            boolean joinedMeanwhile = Refusals.is(cause, RefusalReason.NOT_EMPTY) && round < MOST_ROUNDS;
            return joinedMeanwhile || isToBeRepeated(cause, round)
                    ? delete(true, round + 1)
                    : CompletableFuture.failedFuture(cause);
        });
    }

    private CompletionStage<Boolean> deleteEmpty() {
        return session().submit(Delete.of(path)).thenApply(done -> true).exceptionallyCompose(failure -> {
            Throwable cause = Waiting.cause(failure);
            return Refusals.isNoNode(cause)
                    ? CompletableFuture.completedFuture(true)
                    : CompletableFuture.failedFuture(cause);
        });
    }

    private CompletionStage<Void> deleteAll(List<String> names) {
        List<CompletableFuture<Done>> deletions = new ArrayList<>();
        for (String name : names) {
            deletions.add(session()
                    .submit(Delete.of(path.child(name)))
                    .exceptionallyCompose(failure -> {
                        Throwable cause = Waiting.cause(failure);
                        return Refusals.isNoNode(cause)
                                ? CompletableFuture.completedFuture(Done.DONE)
                                : CompletableFuture.failedFuture(cause);
                    })
                    .toCompletableFuture());
        }
        return CompletableFuture.allOf(deletions.toArray(CompletableFuture<?>[]::new));
    }

    private <T> CompletableFuture<T> onListenerThread(CompletionStage<T> stage) {
        return session().onListenerThread("stage of " + path, stage);
    }
}
