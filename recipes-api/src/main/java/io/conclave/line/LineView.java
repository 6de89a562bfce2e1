package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Looks at a line from outside: who stands in it, first to last. */
public final class LineView {
    private LineView() {}

    /**
     * Reads the line. The members are read one by one behind the list, so one who leaves in between is missing; the first of a mutex's line
     * holds it. Completes on the dispatcher; a line that was never used is empty.
     *
     * @param kinds the kinds that make up the line, as in {@link LineRole#line}; other children are not read
     */
    public static CompletableFuture<List<LineMember>> read(RecipeSession session, NodePath line, Set<EntryKind> kinds) {
        CompletableFuture<List<LineMember>> members = new CompletableFuture<>();
        session.send(
                GetChildren.of(line),
                children -> readMembers(session, line, LineEntry.inOrder(kinds, children.names()), members),
                cause -> {
                    if (Failures.isNoNode(cause)) {
                        members.complete(List.of());
                    } else {
                        members.completeExceptionally(cause);
                    }
                });
        return members;
    }

    private static void readMembers(
            RecipeSession session,
            NodePath line,
            List<LineEntry> entries,
            CompletableFuture<List<LineMember>> members) {
        List<CompletableFuture<Optional<LineMember>>> reads = new ArrayList<>();
        for (LineEntry entry : entries) {
            reads.add(readMember(session, line.child(entry.name()), entry.kind()));
        }
        CompletableFuture.allOf(reads.toArray(CompletableFuture<?>[]::new)).whenComplete((all, failure) -> {
            if (failure != null) {
                members.completeExceptionally(failure);
            } else {
                members.complete(
                        reads.stream().flatMap(read -> read.join().stream()).toList());
            }
        });
    }

    private static CompletableFuture<Optional<LineMember>> readMember(
            RecipeSession session, NodePath path, EntryKind kind) {
        CompletableFuture<Optional<LineMember>> member = new CompletableFuture<>();
        session.send(
                GetData.of(path),
                node -> member.complete(Optional.of(new LineMember(path, kind, node.data(), node.stat()))),
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
