package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Delete;
import java.util.concurrent.CompletableFuture;

/**
 * Deletes a lease's znode, over as many sessions as that takes: it goes with none. State belongs to the dispatcher of
 * the session of the time.
 */
final class LeaseRemoval implements SessionFollower.Work {
    private final NodePath lease;
    private final Delete deletion;
    private final SessionFollower follower;
    private final CompletableFuture<Boolean> removed = new CompletableFuture<>();
    private boolean mayHaveTakenEffect;

    private LeaseRemoval(Coordinator coordinator, NodePath lease, Delete deletion) {
        this.lease = lease;
        this.deletion = deletion;
        this.follower = new SessionFollower(coordinator, this);
    }

    /**
     * Deletes it.
     *
     * @return completes on a dispatcher: whether it was there; exceptionally if the deletion is refused or the
     *     coordinator closed
     */
    static CompletableFuture<Boolean> of(Coordinator coordinator, NodePath lease) {
        return begin(new LeaseRemoval(coordinator, lease, Delete.of(lease)));
    }

    /** As {@link #of}, if its data have that version: another process has not extended it since. */
    static CompletableFuture<Boolean> ifUnchanged(Coordinator coordinator, NodePath lease, int version) {
        return begin(new LeaseRemoval(coordinator, lease, Delete.of(lease).withVersion(version)));
    }

    private static CompletableFuture<Boolean> begin(LeaseRemoval removal) {
        removal.follower.follow();
        return removal.removed;
    }

    @Override
    public void onSession(RecipeSession next) {
        next.send(deletion, deleted -> end(true), cause -> onFailure(next, cause));
    }

    private void onFailure(RecipeSession on, Throwable cause) {
        if (!follower.isCurrent(on)) {
            return;
        }
        if (Failures.isNoNode(cause)) {
            end(mayHaveTakenEffect);
        } else if (Failures.is(cause, RefusalReason.BAD_VERSION)) {
            end(false);
        } else if (Failures.isSessionOver(cause)) {
            mayHaveTakenEffect = true; // the session's state tells what follows
        } else {
            mayHaveTakenEffect |= cause instanceof OutcomeUnknownException;
            Retry.ifItMayPass(on, this, cause, () -> onSession(on), refusal -> {
                follower.end();
                removed.completeExceptionally(refusal);
            });
        }
    }

    private void end(boolean wasThere) {
        follower.end();
        removed.complete(wasThere);
    }

    @Override
    public void onSessionEnded() {
        mayHaveTakenEffect = true; // what was sent is not answered any more
    }

    @Override
    public void onClosed() {
        removed.completeExceptionally(new ClosedException("The coordinator was closed while deleting " + lease
                + "; if it is still there it ends with its lease"));
    }

    @Override
    public String toString() {
        return "LeaseRemoval[" + lease + "]";
    }
}
