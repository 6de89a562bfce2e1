package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.CreateOnce;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Sets and removes barriers, over lost replies. State belongs to the session's dispatcher. */
final class BarrierWrites {
    private final RecipeSession session;
    private final NodePath path;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private Optional<Long> czxid = Optional.empty(); // of the barrier that a removal is about
    private Optional<OutcomeUnknownException> doubt = Optional.empty(); // whether it was removed

    private BarrierWrites(RecipeSession session, NodePath path) {
        this.session = session;
        this.path = path;
    }

    static CompletableFuture<Void> set(Coordinator coordinator, NodePath path) {
        RecipeSession session = RecipeAccess.session(coordinator);
        CompletableFuture<Boolean> created = CreateOnce.create(
                session,
                Create.of(path).withData(ProcessName.bytes()),
                on -> ParentMaker.makeContainers(on, path.parent().orElse(NodePath.ROOT)),
                "Ask isSet(), and set the barrier again if it should be in place");
        return session.onListenerThread("setting " + path, created.thenAccept(whose -> {}));
    }

    static CompletableFuture<Void> remove(Coordinator coordinator, NodePath path) {
        BarrierWrites write = new BarrierWrites(RecipeAccess.session(coordinator), path);
        write.session.execute(write::findAndDelete);
        return write.session.onListenerThread("removing " + path, write.done);
    }

    /** By its creation it is known again after a lost reply. */
    private void findAndDelete() {
        session.read(Exists.of(path).linearizable(), this::onFound, this::onFailure);
    }

    private void onFound(Optional<NodeStat> found) {
        Optional<Long> present = found.map(NodeStat::czxid);
        boolean isAnother = czxid.isPresent() && !czxid.equals(present);
        if (present.isEmpty() || isAnother) {
            done.complete(null);
            return;
        }
        czxid = present;
        doubt = Optional.empty();
        session.send(Delete.of(path), deleted -> done.complete(null), this::onFailure);
    }

    private void onFailure(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            done.complete(null);
        } else if (cause instanceof OutcomeUnknownException unknown) {
            doubt = Optional.of(unknown);
            findAndDelete();
        } else {
            doubt.ifPresentOrElse(unknown -> lookAgain(unknown, cause), () -> done.completeExceptionally(cause));
        }
    }

    private void lookAgain(OutcomeUnknownException unknown, Throwable cause) {
        Retry.lookAgain(session, "Remove " + path, unknown, cause, this::findAndDelete, done::completeExceptionally);
    }
}
