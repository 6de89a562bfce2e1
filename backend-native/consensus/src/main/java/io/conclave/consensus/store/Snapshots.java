package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.LogState;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of one member: which there are, when the next one is taken, and the one that is being received. Owned
 * by the member's thread; writing happens in the background.
 */
final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);

    /** Between two snapshots lies at least this part of the state's size of log. */
    private static final int LEAST_PART_OF_STATE = 8;

    /** One that is owed and could not be written is tried again after so long: each try may write all that fits. */
    private static final long OWED_RETRY_MS = 60_000;

    static final SnapshotPosition NONE = new SnapshotPosition(0, 0, 0, LogState.INITIAL);

    private final Disk disk;
    private final UUID clusterId;
    private final LogOptions options;
    private final Background background;
    private final int kept;

    /** Called when a snapshot is durable and counted. */
    private final Runnable taken;

    /** Last indexes of those there are, oldest first. */
    private final List<Long> indexes = new ArrayList<>();

    private SnapshotPosition newest = NONE;
    private @Nullable Writing writing;

    /** The newest one was set aside, and there is no other yet: it is taken as soon as there is a state, and room. */
    private boolean owed;

    /** Not before then. */
    private long owedFromMs = Long.MIN_VALUE;

    private long nowMs = Long.MIN_VALUE;

    private boolean scarce;

    /** The snapshot that stood its check while the disk was full. */
    private long sound;

    /** Up to where the last one was tried, whether or not it succeeded. */
    private long tried;

    private long bytesSince;

    /** Of the newest snapshot's file. */
    private long newestBytes;

    /** Which part of the spread the next one is taken earlier; another one on each member. */
    private double earlier;

    private final long seed;
    private @Nullable Moment moment;
    private final SnapshotChecks checks;
    private @Nullable ReceivedSnapshot incoming;
    private int incomingNumber;

    /** A snapshot on its way to the disk, which holds on to the machine's state. */
    private static final class Writing {
        /** Read by the writing thread, which ends early then. */
        volatile boolean givenUp;
    }

    /** Where the machine stands, and its state on demand. */
    private record Moment(SnapshotPosition position, Supplier<StateSnapshot> machine) {}

    /** @param seed of the distances: other members should have another one, so that not all take theirs at once */
    Snapshots(
            Disk disk, UUID clusterId, LogOptions options, int kept, Background background, long seed, Runnable taken) {
        this.seed = seed;
        this.disk = disk;
        this.clusterId = clusterId;
        this.options = options;
        this.kept = kept;
        this.background = background;
        this.taken = taken;
        this.checks = new SnapshotChecks(
                disk, clusterId, options.snapshotCheckEveryMs(), background, this::setAside, this::isSound);
    }

    // ---- recovery

    /**
     * Restores the newest that is whole; older than the log's beginning does not count. What was received and never
     * installed goes, as does what an install had not deleted yet.
     */
    SnapshotPosition recover(LogBase base, RecoveryTarget target) throws IOException {
        List<String> names = disk.list();
        if (!names.contains(SnapshotFile.name(base.index())) && completeInstall(base, names)) {
            names = disk.list();
        }
        for (String name : names) {
            long index = SnapshotFile.lastIndexOf(name);
            if (SnapshotFile.isReceived(name) || (index >= 0 && index < base.index())) {
                disk.delete(name);
            } else if (index >= 0) {
                indexes.add(index);
            }
        }
        indexes.sort(null);
        newest = restoreNewest(target);
        tried(newest.lastIndex());
        if (newest.lastIndex() < base.index()) {
            throw new DamagedLogException(
                    disk.describe(SnapshotFile.name(base.index())),
                    0,
                    "the log begins behind this snapshot, and neither it nor a newer one can be read");
        }
        return newest;
    }

    /** The former process ended when the vote file said already that the log begins with the snapshot. */
    private boolean completeInstall(LogBase base, List<String> names) throws IOException {
        for (String name : names) {
            if (SnapshotFile.isReceived(name, base.index())) {
                SnapshotFile.publish(disk, name, SnapshotFile.name(base.index()));
                return true;
            }
        }
        return false;
    }

    /** The highest index that any snapshot reaches, readable or not. */
    long reached() {
        return indexes.isEmpty() ? 0 : indexes.get(indexes.size() - 1);
    }

    private SnapshotPosition restoreNewest(RecoveryTarget target) throws IOException {
        for (int i = indexes.size() - 1; i >= 0; i--) {
            String name = SnapshotFile.name(indexes.get(i));
            try (DiskFile file = disk.open(name)) {
                SnapshotFile.Verified verified = verify(file, name);
                requireKnown(verified.position());
                try (InputStream state = SnapshotFile.state(file, verified)) {
                    target.restore(verified.position(), state);
                }
                newestBytes = file.size();
                return verified.position();
            } catch (DamagedLogException e) {
                log.error("falling back to an older snapshot, if the log still covers it", e);
            }
        }
        return NONE;
    }

    /** A file that the disk cannot read any more is as good as damaged. */
    private SnapshotFile.Verified verify(DiskFile file, String name) throws IOException {
        try {
            return SnapshotFile.verify(file, disk.describe(name), clusterId);
        } catch (IOException e) {
            throw new DamagedLogException(disk.describe(name), 0, "the disk cannot read it: " + e.getMessage());
        }
    }

    private void requireKnown(SnapshotPosition position) {
        LogFormat.requireFeatureLevel(disk, position.state().featureLevel(), options.featureLevel());
    }

    /** A damaged snapshot must not count as one of those that are kept. */
    void setDamagedAside() throws IOException {
        while (reached() > newest.lastIndex()) {
            String name = SnapshotFile.name(indexes.remove(indexes.size() - 1));
            disk.rename(name, name + LogFormat.DAMAGED);
            disk.syncDirectory();
        }
    }

    // ---- taking

    /** So many bytes of log have to be read again at the next start. */
    void logged(long bytes) {
        bytesSince += bytes;
    }

    void applied(SnapshotPosition position, Supplier<StateSnapshot> machine) {
        moment = new Moment(position, machine);
    }

    /** Takes one if it is time. */
    void takeIfDue() {
        Moment now = moment;
        if (now != null && (isOwedNow() || isDue(now.position.lastIndex() - tried))) {
            take(now);
        }
    }

    private boolean isOwedNow() {
        return owed && nowMs >= owedFromMs;
    }

    /** A large state is not written again for a little log: the distance follows its size. */
    private boolean isDue(long entries) {
        return bytesSince >= distance(Math.max(options.snapshotEveryBytes(), newestBytes))
                || (entries >= distance(options.snapshotEveryEntries())
                        && bytesSince >= newestBytes / LEAST_PART_OF_STATE);
    }

    /** All of it, or up to the spread less. */
    private long distance(long most) {
        return most - (long) (most * options.snapshotSpread() * earlier);
    }

    private void tried(long index) {
        tried = index;
        earlier = new SplittableRandom(seed + index).nextDouble();
    }

    /** Takes one if there is any newer state. */
    void takeNow() {
        Moment now = moment;
        if (now != null) {
            take(now);
        }
    }

    private void take(Moment of) {
        if (writing != null || background.isStopping() || of.position.lastIndex() <= newest.lastIndex()) {
            return;
        }
        Writing now = new Writing();
        writing = now;
        bytesSince = 0;
        tried(of.position.lastIndex());
        SnapshotPosition position = of.position;
        StateSnapshot state = of.machine.get();
        background.run(
                () -> SnapshotFile.write(
                        disk, clusterId, position, state, () -> background.isStopping() || now.givenUp),
                bytes -> written(now, position, bytes),
                this::failed);
    }

    /** Whether one is being written, which holds on to the machine's state. */
    boolean isWriting() {
        return writing != null;
    }

    private void written(Writing done, SnapshotPosition position, long bytes) {
        writing = null;
        if (done.givenUp) {
            deleteInBackground(List.of(SnapshotFile.name(position.lastIndex())));
            return;
        }
        owed = false;
        indexes.add(position.lastIndex());
        newest = position;
        newestBytes = bytes;
        List<String> obsolete = new ArrayList<>();
        while (indexes.size() > kept) {
            obsolete.add(SnapshotFile.name(indexes.remove(0)));
        }
        log.debug("{}: snapshot at index {}", disk, position.lastIndex());
        deleteInBackground(obsolete);
        taken.run();
        if (scarce) {
            checks.check(position.lastIndex());
        }
    }

    private void failed(Throwable cause) {
        writing = null;
        if (cause instanceof CancelledException) {
            return;
        }
        owedFromMs = nowMs + OWED_RETRY_MS;
        if (cause instanceof BrokenDiskException) {
            throw new LogException("writing a snapshot in " + disk + " failed: " + cause.getMessage(), cause);
        }
        String next = owed ? "trying again within a minute" : "going on without it";
        if (cause instanceof DiskFullException) {
            log.warn("{}: no room for a snapshot; {}", disk, next);
        } else {
            log.error("{}: a snapshot could not be written; {}", disk, next, cause);
        }
    }

    // ---- a full disk

    /** Whether the disk is full: one snapshot has to do then, with the log behind it, once it has stood its check. */
    void scarce(boolean now) {
        scarce = now;
        sound = 0;
        if (!now) {
            owedFromMs = Long.MIN_VALUE;
        }
        if (now && newest.lastIndex() != 0) {
            checks.check(newest.lastIndex());
        }
    }

    private void isSound(long lastIndex) {
        if (!scarce || lastIndex != newest.lastIndex()) {
            return;
        }
        List<String> obsolete = new ArrayList<>();
        for (long index : indexes) {
            if (index < lastIndex) {
                obsolete.add(SnapshotFile.name(index));
            }
        }
        indexes.removeIf(index -> index < lastIndex);
        sound = lastIndex;
        log.warn(
                "{}: to make room, only the newest snapshot and the log behind it are kept; deleting {}",
                disk,
                obsolete);
        deleteInBackground(obsolete);
        taken.run();
    }

    // ---- checking

    /** A reader could not use it. */
    void suspect(long lastIndex) {
        if (indexes.contains(lastIndex)) {
            checks.suspect(lastIndex);
        }
    }

    /** Time has passed. */
    void tick(long nowMs) {
        this.nowMs = nowMs;
        checks.tick(nowMs, indexes);
        if (isOwedNow()) {
            takeNow();
        }
    }

    /** A damaged one does not count as one of those that are kept, and another is made. */
    private void setAside(long lastIndex) {
        if (!indexes.remove(lastIndex)) {
            return; // deleted meanwhile
        }
        String name = SnapshotFile.name(lastIndex);
        try {
            List<String> before = disk.list().stream()
                    .filter(SnapshotFile::isDamaged)
                    .filter(each -> !each.equals(name + LogFormat.DAMAGED))
                    .toList();
            disk.rename(name, name + LogFormat.DAMAGED);
            deleteInBackground(before);
        } catch (IOException e) {
            throw new LogException("the damaged snapshot " + disk.describe(name) + " could not be set aside: " + e, e);
        }
        log.error(
                "{}: the snapshot is damaged and is called {} now; another one is made",
                disk.describe(name),
                name + LogFormat.DAMAGED);
        if (newest.lastIndex() == lastIndex) {
            newest = NONE;
            owed = true;
        }
        takeNow();
    }

    /**
     * Up to which entry the log is not needed any more. With fewer snapshots than are to be kept the whole log is kept:
     * it is what a damaged snapshot falls back to. On a full disk one that has stood its check has to do.
     */
    long coveredIndex() {
        boolean isEnough = !indexes.isEmpty() && (indexes.size() >= kept || indexes.get(0) == sound);
        return isEnough ? indexes.get(0) : 0;
    }

    // ---- giving and receiving

    @Nullable
    StoredSnapshot open() throws IOException {
        if (newest.lastIndex() == 0 || checks.isSuspect(newest.lastIndex())) {
            return null;
        }
        return new OpenSnapshot(newest, disk.open(SnapshotFile.name(newest.lastIndex())));
    }

    IncomingSnapshot receive(long lastIndex, long lastTerm, long length, ReceivedSnapshot.Installer installer)
            throws IOException {
        ReceivedSnapshot before = incoming;
        if (before != null) {
            before.discard();
        }
        incomingNumber++;
        ReceivedSnapshot made = new ReceivedSnapshot(
                disk,
                clusterId,
                options.featureLevel(),
                new ReceivedSnapshot.Announced(lastIndex, lastTerm, length),
                SnapshotFile.receivedName(lastIndex, incomingNumber),
                installer,
                this::deleteInBackground);
        incoming = made;
        return made;
    }

    /** The log begins behind the received snapshot now: the file gets its name, the older ones go. */
    void installed(SnapshotPosition position, String name) throws IOException {
        SnapshotFile.publish(disk, name, SnapshotFile.name(position.lastIndex()));
        incoming = null;
        List<String> obsolete = new ArrayList<>();
        for (long index : indexes) {
            if (index != position.lastIndex()) {
                obsolete.add(SnapshotFile.name(index));
            }
        }
        indexes.clear();
        indexes.add(position.lastIndex());
        newest = position;
        owed = false;
        tried(position.lastIndex());
        try (DiskFile file = disk.open(SnapshotFile.name(position.lastIndex()))) {
            newestBytes = file.size();
        }
        moment = null;
        bytesSince = 0;
        if (writing != null) {
            writing.givenUp = true; // of the state that this one replaces
        }
        deleteInBackground(obsolete);
    }

    /** Deletes files that are not needed. A file that stays does not matter: it is tried again after a restart. */
    void deleteInBackground(List<String> names) {
        if (names.isEmpty()) {
            return;
        }
        background.run(
                () -> {
                    for (String name : names) {
                        disk.delete(name);
                    }
                    return names;
                },
                deleted -> log.debug("{}: deleted {}", disk, deleted),
                cause -> log.warn("{}: cannot delete {}, which are not needed any more", disk, names, cause));
    }
}
