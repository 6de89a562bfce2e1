package io.conclave.consensus.store;

import io.conclave.consensus.LogException;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.RestoredCluster;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes an empty directory that of a new cluster whose log begins behind a given state: as a bootstrap does, with its
 * member as the only voter. The identity comes last, so a restore that was interrupted leaves no member behind, and may
 * be repeated.
 */
public final class RestoredLog {
    /** What the state counts as; the first entry has the next one. */
    private static final long INDEX = 1;

    private static final Set<String> LEFT_BY_RESTORE =
            Set.of(SnapshotFile.name(INDEX), SnapshotFile.name(INDEX) + LogFormat.TEMPORARY);

    private RestoredLog() {}

    /**
     * Blocks until all is durable.
     *
     * @throws LogException if the directory is in use, or not empty
     */
    public static void write(Disk disk, RestoredCluster cluster, StateSnapshot state) throws IOException {
        Closeable lock = LogDirectory.lock(disk);
        try {
            requireEmpty(disk);
            SnapshotPosition position =
                    new SnapshotPosition(Math.max(1, cluster.term()), INDEX, cluster.timestampMs(), cluster.logState());
            SnapshotFile.write(disk, cluster.clusterId(), position, state, () -> false);
            StoredVote vote = StoredVote.NONE
                    .in(position.term(), 0)
                    .startingAt(new LogBase(LogBase.BOOTSTRAP.segment(), position.lastIndex()));
            LogDirectory.begin(
                    disk,
                    new DirectoryIdentity(
                            cluster.clusterId(), cluster.self().id(), cluster.directory(), true, cluster.nowMs()),
                    vote);
        } finally {
            lock.close();
        }
    }

    private static void requireEmpty(Disk disk) throws IOException {
        List<String> names = disk.list();
        String strangers = names.stream()
                .filter(name -> !LogDirectory.isLeftByBootstrap(name)
                        && !LogDirectory.isSetAside(name)
                        && !LEFT_BY_RESTORE.contains(name))
                .sorted()
                .collect(Collectors.joining(", "));
        if (!strangers.isEmpty()) {
            throw new LogException(
                    disk + " is not empty (" + strangers + "), and nothing is restored over what is there");
        }
        if (names.contains(VoteFile.NAME) && !VoteFile.isUnused(disk)) {
            throw new LogException(
                    disk + " has a vote file that was in use, and nothing is restored over what is there");
        }
        for (String name : LEFT_BY_RESTORE) {
            disk.delete(name);
        }
    }
}
