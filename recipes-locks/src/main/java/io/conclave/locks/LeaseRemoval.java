package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Deletes a lease's znode, over as many sessions as that takes: it goes with none. State belongs to the dispatcher of
 * the current session.
 */
final class LeaseRemoval implements SessionFollower.Work {
    private final NodePath lease;
    private final boolean looksFirst;
    private final Optional<String> writer; // it is deleted only if this one was the last; empty for any
    private final SessionFollower follower;
    private final CompletableFuture<Boolean> removed = new CompletableFuture<>();
    private boolean isUnanswered;
    private boolean mayHaveTakenEffect;

    private LeaseRemoval(Coordinator coordinator, NodePath lease, boolean looksFirst, Optional<String> writer) {
        this.lease = lease;
        this.looksFirst = looksFirst;
        this.writer = writer;
        this.follower = new SessionFollower(coordinator, this);
    }

    /** Deletes it if it is there. Completes on a dispatcher; exceptionally as {@link #ifThere}. */
    static CompletableFuture<Boolean> of(Coordinator coordinator, NodePath lease) {
        return begin(new LeaseRemoval(coordinator, lease, false, Optional.empty()));
    }

    /**
     * Deletes it, and looks first: of one that was never there a lost reply must not say that it was.
     *
     * @return completes on a dispatcher: whether it was there; exceptionally if the deletion is refused, or the
     *     coordinator is closed; with {@link OutcomeUnknownException} if it may have taken effect by then
     */
    static CompletableFuture<Boolean> ifThere(Coordinator coordinator, NodePath lease) {
        return begin(new LeaseRemoval(coordinator, lease, true, Optional.empty()));
    }

    /** As {@link #ifThere}, if that writer was the last: another process has not extended it since. */
    static CompletableFuture<Boolean> ifWrittenBy(Coordinator coordinator, NodePath lease, String writer) {
        return begin(new LeaseRemoval(coordinator, lease, true, Optional.of(writer)));
    }

    private static CompletableFuture<Boolean> begin(LeaseRemoval removal) {
        removal.follower.followAtOnce();
        return removal.removed;
    }

    @Override
    public void onSession(RecipeSession next) {
        if (looksFirst) {
            next.read(GetData.of(lease).linearizable(), node -> onRead(next, node), cause -> onFailure(next, cause));
        } else {
            delete(next, Delete.of(lease));
        }
    }

    private void onRead(RecipeSession on, GetData.NodeData node) {
        if (follower.isCurrent(on)) {
            mayHaveTakenEffect = false; // it is there: what was sent before had no effect
            deletionOf(node).ifPresentOrElse(deletion -> delete(on, deletion), () -> end(false));
        }
    }

    private Optional<Delete> deletionOf(GetData.NodeData node) {
        if (writer.isEmpty()) {
            return Optional.of(Delete.of(lease));
        }
        return LeaseRecord.parse(node.data())
                .filter(record -> record.writer().equals(writer.get()))
                .map(record -> Delete.of(lease).withVersion(node.stat().version()));
    }

    private void delete(RecipeSession on, Delete deletion) {
        isUnanswered = true;
        on.send(deletion, deleted -> end(true), cause -> {
            if (follower.isCurrent(on)) {
                isUnanswered = false;
                mayHaveTakenEffect |= cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException;
                onFailure(on, cause);
            }
        });
    }

    private void onFailure(RecipeSession on, Throwable cause) {
        if (!follower.isCurrent(on) || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        if (Failures.isNoNode(cause)) {
            end(mayHaveTakenEffect);
        } else if (Failures.is(cause, RefusalReason.BAD_VERSION)) {
            onSession(on); // written since it was read
        } else {
            Retry.ifItMayPass(on, this, cause, () -> onSession(on), refusal -> {
                follower.end();
                removed.completeExceptionally(mayHaveTakenEffect ? Failures.inDoubt(unknown(), refusal) : refusal);
            });
        }
    }

    private OutcomeUnknownException unknown() {
        return new OutcomeUnknownException("delete " + lease + ": connection lost before the reply");
    }

    private void end(boolean wasThere) {
        follower.end();
        removed.complete(wasThere);
    }

    @Override
    public void onSessionEnded() {
        mayHaveTakenEffect |= isUnanswered; // and will not be answered any more
        isUnanswered = false;
    }

    @Override
    public void onClosed() {
        String message =
                "The coordinator was closed while deleting " + lease + "; if it is still there it ends with its lease";
        removed.completeExceptionally(
                mayHaveTakenEffect ? new OutcomeUnknownException(message) : new ClosedException(message));
    }

    @Override
    public String toString() {
        return "LeaseRemoval[" + lease + "]";
    }
}
