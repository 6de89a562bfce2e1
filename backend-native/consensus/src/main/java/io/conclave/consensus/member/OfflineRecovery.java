package io.conclave.consensus.member;

import io.conclave.consensus.LogContents;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.FileStore;
import io.conclave.consensus.store.LogDirectory;
import io.conclave.consensus.store.UntouchedDisk;
import java.io.IOException;
import java.util.List;

/** Recovers the log of a member that does not run into a state machine, without touching a file. */
public final class OfflineRecovery {
    private OfflineRecovery() {}

    /**
     * Reads all that the log has into the machine: what is known to be committed, and what lies behind it, since a
     * majority may have had that too. Blocks.
     *
     * @param featureLevel up to which the machine understands what is in the log
     * @throws LogException if there is no log, it is in use, or damaged
     */
    public static LogContents read(Disk disk, int featureLevel, StateMachine machine) throws IOException {
        List<String> damaged = LogDirectory.damagedSnapshots(disk);
        int memberId = LogDirectory.memberOf(disk);
        LogOptions options = LogOptions.builder(() -> 0, () -> 0, Runnable::run, (delayMs, action) -> {}, cause -> {})
                .memberId(memberId)
                .featureLevel(featureLevel)
                .build();
        FileStore store = FileStore.open(new UntouchedDisk(disk), options, Runnable::run);
        try {
            if (!store.isMember()) {
                throw new LogException("the log in " + disk + " is to be set aside at the next start, since its disk"
                        + " was set back to an older state");
            }
            LogApplier applier =
                    new LogApplier(machine, memberId, new LogApplier.ApplyListener() {}, configuration -> {});
            MemberRecovery recovery = new MemberRecovery(options, store, machine, applier);
            recovery.read();
            long committed = applier.index();
            for (LogBatch batch : recovery.rest()) {
                applier.apply(batch);
            }
            return new LogContents(
                    store.clusterId(),
                    memberId,
                    applier.configuration(),
                    committed,
                    applier.index(),
                    applier.term(),
                    applier.timestampMs(),
                    recovery.coreStart().cut(),
                    damaged);
        } finally {
            store.close(false);
        }
    }
}
