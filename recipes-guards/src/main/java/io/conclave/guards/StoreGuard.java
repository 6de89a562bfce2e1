package io.conclave.guards;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencedGrant;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Lets writes to the coordination store itself take effect only while a grant's own znode is there: one transaction
 * that checks the znode and writes.
 *
 * <p>The store decides, not the holder's clock: the next holder is granted only after that znode has gone, so a write
 * that comes late - after a pause, from a queue, on another connection - is refused, whichever client sends it. No
 * token is stored, nothing has to be cleaned up, and there is no extra round trip.
 *
 * <p>The znode is named by its absolute path, so that coordinators with other namespaces, also those of other processes
 * to which the path was sent, can write under the same grant; but they must be connected to the store that gave the
 * grant: on any other the znode is not there, and everything is refused. A session needs READ on the znode. Immutable
 * and thread-safe; making one costs nothing.
 */
public final class StoreGuard {
    private final NodePath znode;

    private StoreGuard(NodePath znode) {
        this.znode = znode;
    }

    /** The guard of a lock, a leadership or another grant, for as long as it has the znode that it has now. */
    public static StoreGuard of(FencedGrant grant) {
        return at(grant.absolutePath());
    }

    /** The guard of a grant of another process, whose {@link FencedGrant#absolutePath()} was sent here. */
    public static StoreGuard at(NodePath absolutePath) {
        return new StoreGuard(Objects.requireNonNull(absolutePath, "absolutePath"));
    }

    /**
     * As {@link #at(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static StoreGuard at(String absolutePath) {
        return at(NodePath.of(absolutePath));
    }

    /**
     * Makes these writes, all of them or none, if the grant's znode is there. Blocks for one round trip; while the
     * connection is away, until the next one is made or the session is gone. Without operations it only asks.
     *
     * @param coordinator whose session writes, and whose namespace the operations' paths are in
     * @return the operations' results, in their order
     * @throws GrantLostException if the grant's znode is gone; nothing was written
     * @throws RefusedException if the store refused an operation, named by its index among those given, or the check
     *     for lack of READ (no index); nothing was written
     * @throws io.conclave.error.ConclaveException if the outcome is unknown, or the writing session is gone or closed
     * @throws InterruptedException if the thread is interrupted while waiting; the writes may take effect anyway, if
     *     the grant's znode is still there
     */
    public List<Multi.Result> execute(Coordinator coordinator, Operation<?>... operations) throws InterruptedException {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Waiting.await(session, send(session, Multi.of(operations)));
    }

    /**
     * As {@link #execute}, without blocking. Completes on a listener thread, with what that gives or throws. Cancelling
     * it does not take the writes back.
     */
    public CompletableFuture<List<Multi.Result>> executeAsync(Coordinator coordinator, Operation<?>... operations) {
        RecipeSession session = RecipeAccess.session(coordinator);
        return session.onListenerThread(toString(), send(session, Multi.of(operations)));
    }

    private CompletionStage<List<Multi.Result>> send(RecipeSession session, Multi writes) {
        return session.submitWhileExists(znode, writes).handle((results, failure) -> {
            if (failure != null) {
                throw new CompletionException(explain(writes, Waiting.cause(failure)));
            }
            return results.subList(1, results.size());
        });
    }

    /** The caller knows nothing of the check in front of its operations. */
    private Throwable explain(Multi writes, Throwable failure) {
        if (!(failure instanceof RefusedException refusal)
                || refusal.operationIndex().isEmpty()) {
            return failure;
        }
        int index = refusal.operationIndex().getAsInt();
        if (index == 0 && refusal.reason() == RefusalReason.NO_NODE) {
            return new GrantLostException(
                    LossReason.NODE_DELETED,
                    znode.toString(),
                    writes.describe() + ": nothing was done, because " + znode
                            + ", the znode of the grant, is gone; acquire it again",
                    refusal);
        }
        RefusedException shifted =
                new RefusedException(refusal.reason(), String.valueOf(refusal.getMessage()), index - 1);
        shifted.initCause(refusal);
        return shifted;
    }

    @Override
    public String toString() {
        return "StoreGuard[" + znode + "]";
    }
}
