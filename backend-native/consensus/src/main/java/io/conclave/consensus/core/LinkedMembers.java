package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What this member knows of the others by its links to them: which ones are linked, the directory that each has shown,
 * and so whether what it says counts.
 */
final class LinkedMembers {
    private final int self;
    private final long directory;
    private final Configurations configurations;
    private final Rules rules;
    private final Set<Integer> linked = new HashSet<>();
    /** By member: the directory that it showed when it was last linked. */
    private final Map<Integer, Long> directories = new HashMap<>();

    LinkedMembers(int self, long directory, Configurations configurations, Rules rules) {
        this.self = self;
        this.directory = directory;
        this.configurations = configurations;
        this.rules = rules;
    }

    void linked(int member, long shownDirectory) {
        directories.put(member, shownDirectory);
        linked.add(member);
    }

    void lost(int member) {
        linked.remove(member);
    }

    boolean isLinked(int member) {
        return linked.contains(member);
    }

    /** Also of this member itself; 0 if none is known. */
    long directoryOf(int member) {
        return member == self ? directory : directories.getOrDefault(member, 0L);
    }

    boolean isAnother(int member, long itsDirectory) {
        long shown = directoryOf(member);
        return shown != 0 && itsDirectory != 0 && shown != itsDirectory;
    }

    /** Whether what the member says counts, if it is a voter: it must have the configured directory. */
    boolean isCounted(int member) {
        return isCounted(member, configurations.latest());
    }

    boolean isCounted(int member, ClusterConfiguration configuration) {
        EnsembleMember configured = configuration.members().get(member);
        return configured != null && rules.countsAsVoter(configured.directory(), directoryOf(member));
    }
}
