package io.conclave.election;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.EntryKind;
import io.conclave.line.LineMember;
import io.conclave.line.LineView;
import io.conclave.node.NodePath;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Reads an election's line, as often as connections are lost on the way. */
final class Candidates {
    private Candidates() {}

    /** Who stands in the line, in order. Completes on the dispatcher. */
    static CompletableFuture<List<LineMember>> read(RecipeSession session, NodePath election) {
        CompletableFuture<List<LineMember>> line = new CompletableFuture<>();
        session.execute(() -> read(session, election, line));
        return line;
    }

    private static void read(RecipeSession session, NodePath election, CompletableFuture<List<LineMember>> line) {
        LineView.read(session, election, Set.of(EntryKind.MUTEX)).whenComplete((members, failure) -> {
            if (failure == null) {
                line.complete(members);
            } else if (Waiting.cause(failure) instanceof OutcomeUnknownException) {
                read(session, election, line);
            } else {
                line.completeExceptionally(Waiting.cause(failure));
            }
        });
    }
}
