package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The places of one session whose deletion is under way, as after a wait that was interrupted, or a release that the
 * loss of the connection has delayed. A contender that enters a line only if it is free is not refused because of them.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class PendingDeletes {
    private final Map<NodePath, List<Pending>> byLine = new HashMap<>();

    private record Pending(String guid, CompletionStage<Void> done) {}

    /** Those of a session. */
    static PendingDeletes of(RecipeSession session) {
        return session.keep(PendingDeletes.class, PendingDeletes::new);
    }

    /** The deletion of this place has begun. */
    void add(NodePath line, String guid, CompletionStage<Void> done) {
        Pending pending = new Pending(guid, done);
        byLine.computeIfAbsent(line, path -> new ArrayList<>()).add(pending);
        done.thenRun(() -> remove(line, pending));
    }

    private void remove(NodePath line, Pending pending) {
        byLine.computeIfPresent(line, (path, all) -> {
            all.remove(pending);
            return all.isEmpty() ? null : all;
        });
    }

    /** Completes when a place has gone, if it is one that is being given up. */
    Optional<CompletionStage<Void>> endOf(NodePath line, LineEntry place) {
        return byLine.getOrDefault(line, List.of()).stream()
                .filter(pending -> place.isOf(pending.guid()))
                .map(Pending::done)
                .findFirst();
    }
}
