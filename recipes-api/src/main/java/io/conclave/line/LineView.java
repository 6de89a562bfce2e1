package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

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
        read(session, line, kinds, members);
        return members;
    }

    private static void read(
            RecipeSession session, NodePath line, Set<EntryKind> kinds, CompletableFuture<List<LineMember>> members) {
        Consumer<Throwable> onFailure = cause -> {
            if (Failures.isNoNode(cause)) {
                members.complete(List.of());
            } else {
                members.completeExceptionally(cause);
            }
        };
        GetChildren list = GetChildren.of(line);
        Request<GetChildren.Children> asked = session.linearizableReads() ? list.linearizable() : list;
        session.read(
                asked,
                children -> readMembers(
                        session, line, LineEntry.inOrder(kinds, children.names()), members::complete, onFailure),
                onFailure);
    }

    private static void readMembers(
            RecipeSession session,
            NodePath line,
            List<LineEntry> entries,
            Consumer<List<LineMember>> onMembers,
            Consumer<Throwable> onFailure) {
        List<CompletableFuture<Optional<LineMember>>> reads = new ArrayList<>();
        for (LineEntry entry : entries) {
            reads.add(readMember(session, line.child(entry.name()), entry.kind()));
        }
        Waiting.whenDone(
                CompletableFuture.allOf(reads.toArray(CompletableFuture<?>[]::new)),
                all -> onMembers.accept(
                        reads.stream().flatMap(read -> read.join().stream()).toList()),
                onFailure);
    }

    private static CompletableFuture<Optional<LineMember>> readMember(
            RecipeSession session, NodePath path, EntryKind kind) {
        CompletableFuture<Optional<LineMember>> member = new CompletableFuture<>();
        session.read(
                GetData.of(path),
                node -> member.complete(Optional.of(new LineMember(path, kind, node.bytes(), node.stat()))),
                cause -> {
                    if (Failures.isNoNode(cause)) {
                        member.complete(Optional.empty());
                    } else {
                        member.completeExceptionally(cause);
                    }
                });
        return member;
    }
}
