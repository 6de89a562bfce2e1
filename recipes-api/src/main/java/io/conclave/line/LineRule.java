package io.conclave.line;

import java.util.List;

/**
 * Whom a contender waits for, which is all in which the recipes that stand in a line differ: a mutex waits for the one before it, a reader for the
 * nearest writer before it.
 *
 * <p>A rule sees only who stands before the contender, because nobody who comes later may ever hold it up. It must be a pure function, and
 * must not turn from "now" into "after" because somebody left. It is called on the session's dispatcher.
 */
@FunctionalInterface
public interface LineRule {
    /** The rule of the mutex, and of writers: the one immediately before us, and only him, so that one deletion wakes one contender. */
    static LineRule immediatePredecessor() {
        return (before, own) -> before.isEmpty() ? Turn.now() : Turn.after(before.get(before.size() - 1));
    }

    /**
     * Whose turn it is. Must not block.
     *
     * @param before the places before ours, first to last
     * @param own our place
     * @return now, or after one of {@code before}
     */
    Turn turn(List<LineEntry> before, LineEntry own);
}
