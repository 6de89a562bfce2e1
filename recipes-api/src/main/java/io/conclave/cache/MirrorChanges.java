package io.conclave.cache;

import java.util.List;

/**
 * What a listener of a mirror receives: the differences between two of its states.
 *
 * @param number of the later state, counted from 1
 * @param since the number of the earlier state, which is the last one that this listener received; 0 for nothing at all
 * @param changes the differences, in the order of the paths; one a path
 */
public record MirrorChanges(long number, long since, List<NodeChange> changes) {
    /** Copies the changes. */
    public MirrorChanges {
        changes = List.copyOf(changes);
    }
}
