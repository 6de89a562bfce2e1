package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Check;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes one group and all that is in it, over lost replies and sessions, but no group that was made at the same path
 * since.
 *
 * <p>The group that the first look finds is known by its creation. A deletion names a path only, so each one is sent on
 * condition of the version of the group's znode, and a version of 0, which a new group has as well, is raised to 1
 * before. (A later group has the same version only if another client deletes it, too, or an application writes to it as
 * often as to the former one.)
 *
 * <p>State belongs to the dispatcher of the session in use.
 */
final class GroupDeletion {
    private static final Logger LOG = LoggerFactory.getLogger(GroupDeletion.class);

    /** So often it begins again because a member has joined meanwhile, or the connection or the session was lost. */
    private static final int MAX_ROUNDS = 100;

    private final Coordinator coordinator;
    private final NodePath path;
    private Optional<Long> czxid = Optional.empty();
    private RecipeSession session;
    private int round;
    private boolean mayHaveDeleted; // a member
    private boolean isInDoubt; // whether the group is there

    /** The group is another one, or none: there is nothing left to do. */
    private static final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        GoneException() {
            super("The group is gone", null, false, false);
        }
    }

    GroupDeletion(Coordinator coordinator, NodePath path) {
        this.coordinator = coordinator;
        this.path = path;
        this.session = RecipeAccess.session(coordinator);
    }

    /** False if there was no group. */
    CompletionStage<Boolean> begin() {
        round++;
        return attempt();
    }

    private CompletionStage<Boolean> attempt() {
        CompletableFuture<Boolean> outcome = new CompletableFuture<>();
        RecipeSession next = RecipeAccess.session(coordinator);
        next.execute(() -> {
            session = next;
            Waiting.forward(attemptHere(), outcome);
        });
        return outcome;
    }

    private CompletionStage<Boolean> attemptHere() {
        return session.submit(GetData.of(path).linearizable())
                .thenCompose(this::mark)
                .thenCompose(this::deleteMembers)
                .thenCompose(this::deleteGroup)
                .thenApply(deleted -> true)
                .exceptionallyCompose(failure -> onFailure(Waiting.cause(failure)));
    }

    private CompletionStage<Boolean> onFailure(Throwable cause) {
        if (cause instanceof GoneException || Failures.isNoNode(cause)) {
            // If it was there, the server has deleted the emptied container, or another client was quicker.
            return CompletableFuture.completedFuture(czxid.isPresent());
        }
        boolean hasBegun = mayHaveDeleted || isInDoubt;
        if (cause instanceof ClosedException && hasBegun) {
            return CompletableFuture.failedFuture(unknown("the coordinator was closed in the middle", cause));
        }
        if (Failures.mayPass(cause) && hasBegun) {
            LOG.warn("Delete the group {}: trying again: {}", path, cause.getMessage());
            CompletableFuture<Void> over = new CompletableFuture<>();
            Retry.later(session, cause, () -> over.complete(null));
            return over.thenCompose(again -> attempt());
        }
        boolean isLost = cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException;
        boolean isNotEmpty = Failures.is(cause, RefusalReason.NOT_EMPTY);
        if ((isLost || isNotEmpty || Failures.isStale(cause)) && round < MAX_ROUNDS) {
            return begin();
        }
        boolean isUntold = cause instanceof RefusedException && isInDoubt && !isNotEmpty;
        return CompletableFuture.failedFuture(
                isUntold ? unknown("what became of it cannot be looked up", cause) : cause);
    }

    private OutcomeUnknownException unknown(String why, Throwable cause) {
        return new OutcomeUnknownException(
                "Delete the group " + path + ": " + why + ", so the group may be there, or a part of it, or nothing."
                        + " Delete it again if nothing should be: " + cause.getMessage(),
                cause);
    }

    /** Has the group carry a version that no new group has; answers which. */
    private CompletionStage<Integer> mark(GetData.NodeData node) {
        int version = checked(node.stat()).version();
        isInDoubt = false; // it is there: what was sent before has not deleted it
        if (version != 0) {
            return CompletableFuture.completedFuture(version);
        }
        return session.submit(SetData.of(path, node.data()).withVersion(0))
                .thenApply(stat -> checked(stat).version())
                .exceptionallyCompose(failure -> Failures.is(Waiting.cause(failure), RefusalReason.NO_AUTH)
                        ? CompletableFuture.completedFuture(0) // a client that may only delete deletes by the path
                        : CompletableFuture.failedFuture(Waiting.cause(failure)));
    }

    /** The stat of the group that we have begun to delete; there is nothing left to do if it is another's. */
    private NodeStat checked(NodeStat stat) {
        if (czxid.isEmpty()) {
            czxid = Optional.of(stat.czxid());
        }
        if (czxid.get() != stat.czxid()) {
            throw new GoneException();
        }
        return stat;
    }

    private CompletionStage<Integer> deleteMembers(int version) {
        return session.submit(GetChildren.of(path)).thenCompose(children -> {
            checked(children.stat());
            return Waiting.all(children.names().stream().map(name -> deleteMember(path.child(name), version)))
                    .thenApply(done -> version);
        });
    }

    private CompletionStage<Done> deleteMember(NodePath member, int version) {
        return delete(Multi.of(new Check(path, version), Delete.of(member)))
                .thenApply(done -> Done.DONE)
                .exceptionallyCompose(failure -> {
                    Throwable cause = Waiting.cause(failure);
                    boolean hasLeft = Failures.is(cause, RefusalReason.NO_NODE, 1);
                    return hasLeft
                            ? CompletableFuture.completedFuture(Done.DONE)
                            : CompletableFuture.failedFuture(cause);
                });
    }

    private CompletionStage<Done> deleteGroup(int version) {
        return delete(Delete.of(path).withVersion(version));
    }

    private <R> CompletionStage<R> delete(Request<R> request) {
        return session.submit(request).whenComplete((answer, failure) -> {
            Throwable cause = failure == null ? null : Waiting.cause(failure);
            boolean hadNoEffect = cause instanceof RefusedException || cause instanceof ClosedException;
            mayHaveDeleted |= request instanceof Multi && !hadNoEffect;
            isInDoubt |= cause != null && !hadNoEffect;
        });
    }
}
