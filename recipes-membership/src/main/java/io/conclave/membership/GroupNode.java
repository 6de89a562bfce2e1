package io.conclave.membership;

import io.conclave.cache.CachedNode;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.CreateOnce;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The group's own znode and all of its children at once: create, read, delete; over lost connections and sessions. */
final class GroupNode {
    private final Coordinator coordinator;
    private final NodePath path;

    GroupNode(Coordinator coordinator, NodePath path) {
        this.coordinator = coordinator;
        this.path = path;
    }

    private RecipeSession session() {
        return RecipeAccess.session(coordinator);
    }

    /** Answers whether this call has created it, which the data tells after a lost reply. */
    CompletableFuture<Boolean> create() {
        String mark = ProcessName.get() + " " + UUID.randomUUID();
        return onListenerThread(CreateOnce.create(
                coordinator,
                Create.of(path).withData(mark.getBytes(StandardCharsets.UTF_8)),
                session -> ParentMaker.makePersistent(session, path.parent().orElse(NodePath.ROOT)),
                "Ask exists(), and create the group again if it should be there"));
    }

    CompletableFuture<List<CachedNode>> read() {
        return onListenerThread(Waiting.ifThere(RecipeAccess.read(coordinator, GetChildren.of(path)))
                .thenCompose(
                        found -> readAll(found.map(GetChildren.Children::names).orElse(List.of()))));
    }

    /** The children of these names; those that have gone are not among them. */
    CompletableFuture<List<CachedNode>> read(List<String> names) {
        return onListenerThread(readAll(names));
    }

    private CompletionStage<List<CachedNode>> readAll(List<String> names) {
        return Waiting.all(names.stream().sorted().map(name -> readOne(path.child(name))))
                .thenApply(nodes -> nodes.stream().flatMap(Optional::stream).toList());
    }

    /** Empty if it has just left. */
    private CompletionStage<Optional<CachedNode>> readOne(NodePath member) {
        return Waiting.ifThere(RecipeAccess.read(coordinator, GetData.of(member)))
                .thenApply(found -> found.map(node -> new CachedNode(member, node.bytes(), node.stat())));
    }

    CompletableFuture<Boolean> delete() {
        return onListenerThread(new GroupDeletion(coordinator, path).begin());
    }

    private <T> CompletableFuture<T> onListenerThread(CompletionStage<T> stage) {
        return session().onListenerThread("stage of " + path, stage);
    }
}
