package io.conclave.membership;

import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A group as a view saw it at one moment.
 *
 * @param <P> the type of the payloads
 * @param number counts the states of one view, from 1; 0 before the first one is known
 * @param byId the members in the order of their ids
 */
public record GroupSnapshot<P>(long number, SortedMap<String, Member<P>> byId) {
    /** Copies the members. */
    public GroupSnapshot {
        byId = Collections.unmodifiableSortedMap(new TreeMap<>(byId));
    }

    /** The members in the order of their ids. */
    public Collection<Member<P>> members() {
        return byId.values();
    }

    /** The member of that id; empty if there is none. */
    public Optional<Member<P>> member(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** How many members there are. */
    public int size() {
        return byId.size();
    }

    @Override
    public String toString() {
        return "GroupSnapshot[" + number + ", " + byId.keySet() + "]";
    }
}
