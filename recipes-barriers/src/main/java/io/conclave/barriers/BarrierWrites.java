package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.line.OwnName;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.Exists;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Sets and removes barriers, over lost replies. State belongs to the session's dispatcher. */
final class BarrierWrites {
    private final RecipeSession session;
    private final NodePath path;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private Optional<Long> czxid = Optional.empty(); // of the barrier that a removal is about

    private BarrierWrites(RecipeSession session, NodePath path) {
        this.session = session;
        this.path = path;
    }

    static CompletableFuture<Void> set(Coordinator coordinator, NodePath path) {
        BarrierWrites write = new BarrierWrites(coordinator.recipeSession(), path);
        write.session.execute(write::create);
        return write.session.onListenerThread("setting " + path, write.done);
    }

    static CompletableFuture<Void> remove(Coordinator coordinator, NodePath path) {
        BarrierWrites write = new BarrierWrites(coordinator.recipeSession(), path);
        write.session.execute(write::findAndDelete);
        return write.session.onListenerThread("removing " + path, write.done);
    }

    private void create() {
        session.send(
                Create.of(path).withData(OwnName.get().getBytes(StandardCharsets.UTF_8)),
                created -> done.complete(null),
                cause -> {
                    if (Refusals.is(cause, RefusalReason.NODE_EXISTS)) {
                        done.complete(null);
                    } else if (cause instanceof OutcomeUnknownException) {
                        create(); // in place twice is as good as once
                    } else if (Refusals.isNoNode(cause)) {
                        makeParents();
                    } else {
                        done.completeExceptionally(cause);
                    }
                });
    }

    private void makeParents() {
        ParentMaker.makeContainers(session, path.parent().orElse(NodePath.ROOT)).whenComplete((made, failure) -> {
            if (failure == null) {
                session.execute(this::create);
            } else {
                done.completeExceptionally(Waiting.cause(failure));
            }
        });
    }

    /** By its creation it is known again after a lost reply. */
    private void findAndDelete() {
        session.send(Exists.of(path).linearizable(), this::onFound, cause -> retry(cause, this::findAndDelete));
    }

    private void onFound(Optional<NodeStat> found) {
        Optional<Long> present = found.map(NodeStat::czxid);
        boolean isAnother = czxid.isPresent() && !czxid.equals(present);
        if (present.isEmpty() || isAnother) {
            done.complete(null);
            return;
        }
        czxid = present;
        session.send(Delete.of(path), deleted -> done.complete(null), cause -> retry(cause, this::findAndDelete));
    }

    private void retry(Throwable cause, Runnable again) {
        if (Refusals.isNoNode(cause)) {
            done.complete(null);
        } else if (cause instanceof OutcomeUnknownException) {
            again.run();
        } else {
            done.completeExceptionally(cause);
        }
    }
}
