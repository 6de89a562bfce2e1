package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.node.NodePath;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** A configuration as a view saw it at one moment: every publication is in it whole or not at all. Immutable. */
public final class ConfigSnapshot {
    private final NodePath root;
    private final long number;
    private final SortedMap<String, CachedNode> nodes;

    ConfigSnapshot(NodePath root, long number, SortedMap<String, CachedNode> nodes) {
        this.root = root;
        this.number = number;
        this.nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
    }

    /** Counts the states of one view, from 1; 0 before the first one is known. */
    public long number() {
        return number;
    }

    /**
     * The value of a key; empty if it has none.
     *
     * @throws IllegalArgumentException if the key's codec does not understand it
     */
    public <T> Optional<T> get(ConfigKey<T> key) {
        return read(key).map(Versioned::value);
    }

    /** As {@link #get}, with the version that a compare-and-set needs. */
    public <T> Optional<Versioned<T>> read(ConfigKey<T> key) {
        return Optional.ofNullable(nodes.get(key.name()))
                .map(node -> Versioned.of(SharedValue.decode(key.pathIn(root), key.codec(), node.data()), node.stat()));
    }

    /** The names of the keys that have a value. */
    public Set<String> names() {
        return nodes.keySet();
    }

    @Override
    public String toString() {
        return "ConfigSnapshot[" + number + ", " + nodes.keySet() + "]";
    }
}
