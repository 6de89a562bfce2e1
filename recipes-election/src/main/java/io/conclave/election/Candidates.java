package io.conclave.election;

import io.conclave.line.EntryKind;
import io.conclave.line.LineMember;
import io.conclave.line.LineView;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Reads an election's line. */
final class Candidates {
    private Candidates() {}

    /** The members of the line, in order. Completes on the dispatcher. */
    static CompletableFuture<List<LineMember>> read(RecipeSession session, NodePath election) {
        CompletableFuture<List<LineMember>> line = new CompletableFuture<>();
        session.execute(() -> Waiting.forward(LineView.read(session, election, Set.of(EntryKind.MUTEX)), line));
        return line;
    }
}
