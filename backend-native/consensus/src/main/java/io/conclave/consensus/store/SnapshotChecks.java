package io.conclave.consensus.store;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads kept snapshots through in the background, since a disk may damage what was whole when it was written: each in
 * its turn, and one at once that a reader could not use. Owned by the member's thread.
 */
final class SnapshotChecks {
    private static final Logger log = LoggerFactory.getLogger(SnapshotChecks.class);

    private final Disk disk;
    private final UUID clusterId;
    private final long everyMs;
    private final Background background;
    private final LongConsumer damaged;
    private final LongConsumer sound;

    private final Set<Long> running = new HashSet<>();

    /** Those of the running ones that a reader could not use. */
    private final Set<Long> suspects = new HashSet<>();

    /** The last one whose turn it was. */
    private long checked;

    private long checkedMs = Long.MIN_VALUE;

    /**
     * @param damaged receives the last index of one that is damaged
     * @param sound receives the last index of one that is not
     */
    SnapshotChecks(
            Disk disk, UUID clusterId, long everyMs, Background background, LongConsumer damaged, LongConsumer sound) {
        this.disk = disk;
        this.clusterId = clusterId;
        this.everyMs = everyMs;
        this.background = background;
        this.damaged = damaged;
        this.sound = sound;
    }

    boolean isSuspect(long lastIndex) {
        return suspects.contains(lastIndex);
    }

    void suspect(long lastIndex) {
        suspects.add(lastIndex);
        check(lastIndex);
    }

    /** Checks one of those when it is time. */
    void tick(long nowMs, List<Long> indexes) {
        if (checkedMs == Long.MIN_VALUE) {
            checkedMs = nowMs; // what is there was checked when it was read
        }
        if (nowMs - checkedMs >= everyMs && running.isEmpty() && !background.isStopping()) {
            checkedMs = nowMs;
            checkNext(indexes);
        }
    }

    /** The newest first, then back to the oldest. */
    private void checkNext(List<Long> indexes) {
        long next = 0;
        for (long index : indexes) {
            next = index < checked || next == 0 ? index : next;
        }
        if (next >= checked && !indexes.isEmpty()) {
            next = indexes.get(indexes.size() - 1);
        }
        checked = next;
        if (next != 0) {
            check(next);
        }
    }

    void check(long lastIndex) {
        if (!running.add(lastIndex)) {
            return;
        }
        background.run(
                () -> isSound(lastIndex),
                isSound -> {
                    ended(lastIndex);
                    (isSound ? sound : damaged).accept(lastIndex);
                },
                cause -> {
                    ended(lastIndex);
                    log.warn("{}: a snapshot could not be checked", disk.describe(SnapshotFile.name(lastIndex)), cause);
                });
    }

    private void ended(long lastIndex) {
        running.remove(lastIndex);
        suspects.remove(lastIndex);
    }

    /**
     * What cannot be read is as bad as what was read and is wrong; but if no file can be opened, as where the process
     * has too many open, it may be sound.
     */
    private boolean isSound(long lastIndex) throws IOException {
        String name = SnapshotFile.name(lastIndex);
        DiskFile opened;
        try {
            opened = disk.open(name);
        } catch (NoSuchFileException e) {
            return true; // not needed any more
        } catch (IOException e) {
            disk.open(VoteFile.NAME).close(); // throws if nothing can be opened
            log.error("{}: the snapshot cannot be opened", disk.describe(name), e);
            return false;
        }
        try (DiskFile file = opened) {
            SnapshotFile.verify(file, disk.describe(name), clusterId);
            return true;
        } catch (IOException | LogException e) {
            log.error("{}: the snapshot failed its check", disk.describe(name), e);
            return false;
        }
    }
}
