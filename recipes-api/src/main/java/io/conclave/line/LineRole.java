package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The role of a contender in a line: the kind of its place, and the rule for which place it waits. A recipe has one for
 * each kind of grant.
 *
 * @param measuredAs what its durations and counts begin with, such as {@code lock} in {@code lock.wait}
 * @param kind the kind of its own place
 * @param line the kinds that make up the line, its own among them; all other children of the line's znode are ignored
 * @param rule which place it waits for
 */
public record LineRole(String measuredAs, EntryKind kind, Set<EntryKind> line, LineRule rule) {
    /**
     * A role.
     *
     * @throws IllegalArgumentException if the line does not have the own kind
     */
    public LineRole {
        line = Set.copyOf(line);
        if (!line.contains(kind)) {
            throw new IllegalArgumentException("Invalid line " + line + ": the contender's own kind " + kind
                    + " must be among those that make it up");
        }
    }

    /**
     * One holder at a time, first come, first served.
     *
     * @param measuredAs what its durations and counts begin with
     */
    public static LineRole mutex(String measuredAs) {
        return new LineRole(measuredAs, EntryKind.MUTEX, Set.of(EntryKind.MUTEX), LineRule.immediatePredecessor());
    }

    /** Makes the line's znode, and those above it. */
    CompletionStage<Void> makeLine(RecipeSession session, NodePath path) {
        return kind.isOfLinesThatStay()
                ? ParentMaker.makePersistent(session, path)
                : ParentMaker.makeContainers(session, path);
    }

    /** The place that has to go first; see {@link LineRule#predecessor}. */
    Optional<LineEntry> predecessor(List<LineEntry> before, LineEntry own) {
        Optional<LineEntry> predecessor = rule.predecessor(before, own);
        if (predecessor.isPresent() && before.lastIndexOf(predecessor.get()) < 0) {
            throw new IllegalStateException("The rule lets " + own + " wait for " + predecessor.get()
                    + ", which is not among those before it: " + before);
        }
        return predecessor;
    }

    /**
     * Whether it will surely be our turn when the one that we wait for has gone, so that the line need not be read
     * again: it is the head, the rule is content with the others, and the line is of one kind. In a line of several, a
     * head that vanishes may have become another kind in the same place (a writer that goes on as a reader).
     */
    boolean isNextAfter(LineEntry awaited, List<LineEntry> before, LineEntry own) {
        return line.size() == 1
                && before.get(0).equals(awaited)
                && rule.predecessor(before.subList(1, before.size()), own).isEmpty();
    }
}
