package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks at a line from outside: who stands in it, first to last. */
public final class LineView {
    private LineView() {}

    /**
     * Reads the line. The members are read one by one behind the list, so one who leaves in between is missing; the
     * first of a mutex's line holds it. The list is read linearizably if the coordinator reads so, and the members are
     * at least as new. Reads that a lost connection leaves unanswered are repeated. Completes on the dispatcher; a line
     * that was never used is empty.
     *
     * @param kinds the kinds that make up the line, as in {@link LineRole#line}; other children are not read
     */
    public static CompletionStage<List<LineMember>> read(RecipeSession session, NodePath line, Set<EntryKind> kinds) {
        Sender reads = session::read;
        return Waiting.ifThere(reads.stage(session.forApplication(GetChildren.of(line))))
                .thenCompose(children -> children.isEmpty()
                        ? CompletableFuture.completedFuture(List.of())
                        : readMembers(
                                reads,
                                line,
                                LineEntry.inOrder(kinds, children.get().names())));
    }

    private static CompletableFuture<List<LineMember>> readMembers(
            Sender reads, NodePath line, List<LineEntry> entries) {
        return Waiting.all(entries.stream().map(entry -> readMember(reads, line.child(entry.name()), entry.kind())))
                .thenApply(found -> found.stream().flatMap(Optional::stream).toList());
    }

    private static CompletionStage<Optional<LineMember>> readMember(Sender reads, NodePath path, EntryKind kind) {
        return Waiting.ifThere(reads.stage(GetData.of(path)))
                .thenApply(there -> there.map(node -> new LineMember(path, kind, node.bytes(), node.stat())));
    }
}
