package io.conclave.line;

import java.util.List;
import java.util.Optional;

/**
 * Which place a contender waits for. The recipes that stand in a line differ in nothing else: a mutex waits for the
 * place before its own, a reader for the nearest writer before it.
 *
 * <p>A rule sees only the places before the contender's, because none that comes later may ever hold it up. It must be
 * a pure function, and must not turn from "none" into a place because another contender left. It is called on the
 * session's dispatcher.
 */
@FunctionalInterface
public interface LineRule {
    /**
     * The rule of the mutex, and of writers: the place immediately before, and only that, so that one deletion wakes
     * one contender.
     */
    static LineRule immediatePredecessor() {
        return (before, own) -> before.isEmpty() ? Optional.empty() : Optional.of(before.get(before.size() - 1));
    }

    /**
     * The place that has to go first; when it has gone the rule is asked again. Must not block.
     *
     * @param before the places before the contender's, first to last
     * @param own the contender's place
     * @return one of {@code before}; empty if it is the contender's turn
     */
    Optional<LineEntry> predecessor(List<LineEntry> before, LineEntry own);
}
