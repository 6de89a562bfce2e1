package io.conclave.config;

import java.util.Set;

/**
 * What a listener of a view receives.
 *
 * @param snapshot the state
 * @param since the number of the last state that this listener received; 0 for nothing at all
 * @param changed the names of the keys whose value is another one, is new, or was taken away
 */
public record ConfigUpdate(ConfigSnapshot snapshot, long since, Set<String> changed) {
    /** Copies the names. */
    public ConfigUpdate {
        changed = Set.copyOf(changed);
    }
}
