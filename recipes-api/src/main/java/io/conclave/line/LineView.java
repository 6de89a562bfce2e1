package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

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
    public static CompletableFuture<List<LineMember>> read(RecipeSession session, NodePath line, Set<EntryKind> kinds) {
        CompletableFuture<List<LineMember>> members = new CompletableFuture<>();
        GetChildren list = GetChildren.of(line);
        Request<GetChildren.Children> asked = session.linearizableReads() ? list.linearizable() : list;
        session.read(
                asked,
                children -> Waiting.forward(
                        readMembers(session, line, LineEntry.inOrder(kinds, children.names())), members),
                Failures.ifNoNode(() -> members.complete(List.of()), members::completeExceptionally));
        return members;
    }

    private static CompletableFuture<List<LineMember>> readMembers(
            RecipeSession session, NodePath line, List<LineEntry> entries) {
        return Waiting.all(entries.stream().map(entry -> readMember(session, line.child(entry.name()), entry.kind())))
                .thenApply(found -> found.stream().flatMap(Optional::stream).toList());
    }

    private static CompletableFuture<Optional<LineMember>> readMember(
            RecipeSession session, NodePath path, EntryKind kind) {
        CompletableFuture<Optional<LineMember>> member = new CompletableFuture<>();
        session.read(
                GetData.of(path),
                node -> member.complete(Optional.of(new LineMember(path, kind, node.bytes(), node.stat()))),
                Failures.ifNoNode(() -> member.complete(Optional.empty()), member::completeExceptionally));
        return member;
    }
}
