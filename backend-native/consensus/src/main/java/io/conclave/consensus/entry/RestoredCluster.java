package io.conclave.consensus.entry;

import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * A cluster that begins with a state instead of nothing.
 *
 * @param clusterId its id
 * @param self its only member and voter
 * @param directory the random id of that member's directory
 * @param term at least that in which the state's last change was made
 * @param timestampMs of the state's last change
 * @param featureLevel that is in force in the state
 * @param nowMs the time
 */
public record RestoredCluster(
        UUID clusterId,
        EnsembleMember self,
        long directory,
        long term,
        long timestampMs,
        int featureLevel,
        long nowMs) {

    /** The state of the log where it begins. */
    public LogState logState() {
        return new LogState(configuration(), 0, featureLevel, Map.of());
    }

    /** Its members. */
    public ClusterConfiguration configuration() {
        return new ClusterConfiguration(Map.of(self.id(), self.withDirectory(directory)), Set.of(self.id()), Set.of());
    }
}
