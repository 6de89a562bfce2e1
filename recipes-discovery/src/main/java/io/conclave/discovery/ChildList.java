package io.conclave.discovery;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The names of a znode's children, where it may not be there. */
final class ChildList {
    private ChildList() {}

    /** In order; none if there is no such znode. Completes on a listener thread. */
    static CompletableFuture<List<String>> of(Coordinator coordinator, NodePath path) {
        return RecipeAccess.session(coordinator)
                .onListenerThread(
                        "list " + path,
                        Waiting.ifThere(RecipeAccess.read(coordinator, GetChildren.of(path)))
                                .thenApply(found -> found.stream()
                                        .flatMap(children -> children.names().stream())
                                        .sorted()
                                        .toList()));
    }
}
