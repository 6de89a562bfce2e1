package io.conclave.cache;

import io.conclave.node.NodePath;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A state of a mirror.
 *
 * @param number counts the states of one mirror, from 1; 0 while nothing is loaded yet
 * @param nodes what is there, in the order of the paths
 */
public record MirrorState(long number, SortedMap<NodePath, CachedNode> nodes) {
    /** Copies the znodes. */
    public MirrorState {
        nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
    }
}
