package io.conclave.consensus.store;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.DirectoryInUseException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.DiskClaim;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directory as a whole: its lock, its identity, its bootstrap, and its end. */
public final class LogDirectory {
    private static final Logger log = LoggerFactory.getLogger(LogDirectory.class);
    private static final String LOCK = "lock";
    private static final String SET_ASIDE = "set-aside-";

    /** Its content says in words why the log is to be set aside at the next start. */
    private static final String CONDEMNED = "condemned";

    /** Its content is a {@link DiskClaim}: while it is there, the member takes no part. */
    private static final String CLAIM = "claim";

    private static final int MAX_CLAIM_BYTES = 64 << 10;

    /** What an interrupted bootstrap may have left; nothing in it was ever promised to anybody. */
    private static final Set<String> LEFT_BY_BOOTSTRAP = Set.of(
            LOCK, VoteFile.NAME, VoteFile.NAME + LogFormat.TEMPORARY, DirectoryIdentity.NAME + LogFormat.TEMPORARY);

    private LogDirectory() {}

    /**
     * The way back for a member whose log is damaged: gives all files of the log names that are not read, so that the
     * member comes back as one with an empty directory, to be taken in by the others as a learner. For a cluster of one
     * this gives up all data. May be repeated if it was interrupted. Blocks for as long as renaming takes.
     *
     * @return the names that the files have now
     * @throws LogException if the directory is in use or holds no log
     */
    public static List<String> setAside(Disk disk) throws IOException {
        Closeable lock = lock(disk);
        try {
            return renameAll(disk);
        } finally {
            lock.close();
        }
    }

    /** Has the next start set the log aside; the log may be in use. Durable on return. */
    public static void condemn(Disk disk, String reason) throws IOException {
        if (!disk.list().contains(CONDEMNED)) {
            try (DiskFile file = disk.create(CONDEMNED)) {
                file.write(ByteBuffer.wrap((reason + "\n").getBytes(StandardCharsets.UTF_8)), 0);
                file.sync();
            }
            disk.syncDirectory();
        }
    }

    /** Keeps what another member has claimed of this disk. Durable on return. */
    static void suspect(Disk disk, DiskClaim claim) throws IOException {
        String temporary = CLAIM + LogFormat.TEMPORARY;
        disk.delete(temporary);
        try (DiskFile file = disk.create(temporary)) {
            file.write(ByteBuffer.wrap((claim.line() + "\n").getBytes(StandardCharsets.UTF_8)), 0);
            file.sync();
        }
        disk.rename(temporary, CLAIM);
        disk.syncDirectory();
    }

    /** What another member has claimed of this disk and nobody has settled. */
    static Optional<DiskClaim> claim(Disk disk) throws IOException {
        if (!disk.list().contains(CLAIM)) {
            return Optional.empty();
        }
        try (DiskFile file = disk.open(CLAIM)) {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), MAX_CLAIM_BYTES));
            file.read(bytes, 0);
            Optional<DiskClaim> claim = DiskClaim.of(new String(bytes.array(), StandardCharsets.UTF_8));
            if (claim.isEmpty()) {
                throw new LogException(disk.describe(CLAIM) + " is not readable: it says what another member has"
                        + " claimed of this disk. Run set-aside if the others serve, or trust-log");
            }
            return claim;
        }
    }

    /**
     * Sets the log of a locked directory aside if an earlier start found that it is wrong, as when its disk was set
     * back to an older state.
     */
    static void setAsideIfCondemned(Disk disk) throws IOException {
        List<String> names = disk.list();
        if (names.contains(CONDEMNED)) {
            log.warn(
                    "{}: this member's log was found wrong, the file {} among those set aside says why",
                    disk,
                    CONDEMNED);
            rename(disk, names);
        }
    }

    /**
     * Counts a log whose end was torn as whole again, or one whose disk is said to have been set back as right, on an
     * operator's word. Durable on return. One that was found wrong is set aside at the next start, which no word
     * prevents.
     *
     * @return whether it was a claim of another member that is not believed
     */
    public static boolean trust(Disk disk) throws IOException {
        Closeable lock = lock(disk);
        try {
            if (!disk.list().contains(DirectoryIdentity.NAME)) {
                throw new LogException(disk + " holds no log that could be trusted");
            }
            if (disk.list().contains(CONDEMNED)) {
                throw new LogException(disk + ": the log was found wrong, as " + disk.describe(CONDEMNED)
                        + " says, and is set aside at the next start (nothing is deleted): there is nothing to trust");
            }
            if (disk.list().contains(CLAIM)) {
                disk.delete(CLAIM);
                disk.syncDirectory();
                log.warn("{}: what another member has claimed of this disk is not believed", disk);
                return true;
            }
            try (VoteFile file =
                    VoteFile.open(disk, DirectoryIdentity.read(disk).clusterId())) {
                if (!file.vote().torn()) {
                    throw new LogException("the end of the log in " + disk
                            + " was not torn when its server last started: there is nothing to trust");
                }
                file.write(file.vote().whole());
            }
            log.warn("{}: the end of the log was torn and counts as whole from now on", disk);
            return false;
        } finally {
            lock.close();
        }
    }

    /**
     * The member whose log it is. Blocks.
     *
     * @throws LogException if there is none
     */
    public static int memberOf(Disk disk) throws IOException {
        return identityOf(disk).memberId();
    }

    private static DirectoryIdentity identityOf(Disk disk) throws IOException {
        if (!disk.list().contains(DirectoryIdentity.NAME)) {
            throw new LogException(disk + " holds no log");
        }
        return DirectoryIdentity.read(disk);
    }

    /**
     * Reads all snapshots of a log through; what is wrong with those that are not whole. Blocks.
     *
     * @throws LogException if there is no log
     */
    public static List<String> damagedSnapshots(Disk disk) throws IOException {
        UUID clusterId = identityOf(disk).clusterId();
        List<String> damaged = new ArrayList<>();
        for (String name : disk.list().stream().sorted().toList()) {
            if (SnapshotFile.lastIndexOf(name) >= 0) {
                try (DiskFile file = disk.open(name)) {
                    SnapshotFile.verify(file, disk.describe(name), clusterId);
                } catch (LogException e) {
                    damaged.add(String.valueOf(e.getMessage()));
                }
            }
        }
        return damaged;
    }

    private static List<String> renameAll(Disk disk) throws IOException {
        List<String> names = disk.list();
        if (!names.contains(DirectoryIdentity.NAME) && !names.contains(VoteFile.NAME)) {
            throw new LogException(disk + " holds no log that could be set aside");
        }
        return rename(disk, names);
    }

    private static List<String> rename(Disk disk, List<String> names) throws IOException {
        List<String> ours = names.stream()
                .filter(name -> !name.equals(LOCK) && !name.startsWith(SET_ASIDE))
                // the identity before the rest: without it nothing of the rest can be taken for a log; the vote file
                // last,
                // so that what is left of an interrupted attempt is not taken for an empty directory
                .sorted(Comparator.comparingInt(LogDirectory::orderOfLeaving))
                .toList();
        String prefix = SET_ASIDE + nextNumber(names) + "-";
        List<String> now = new ArrayList<>();
        for (String name : ours) {
            disk.rename(name, prefix + name);
            disk.syncDirectory();
            now.add(prefix + name);
        }
        log.warn("{}: the log was set aside, as {}*; the member comes back without one", disk, prefix);
        return now;
    }

    private static int orderOfLeaving(String name) {
        return switch (name) {
            case DirectoryIdentity.NAME -> 0;
            case VoteFile.NAME -> 2;
            case CONDEMNED -> 3;
            default -> 1;
        };
    }

    private static long nextNumber(List<String> names) {
        long number = 1;
        while (startsOne(names, SET_ASIDE + number + "-")) {
            number++;
        }
        return number;
    }

    private static boolean startsOne(List<String> names, String prefix) {
        return names.stream().anyMatch(name -> name.startsWith(prefix));
    }

    /** Locks the directory against others until the returned handle is closed. */
    static Closeable lock(Disk disk) throws IOException {
        try {
            return disk.lock(LOCK);
        } catch (DirectoryInUseException e) {
            throw new LogException(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * The directory's identity. An empty directory becomes a new cluster, if the options say so; else it has none, and
     * waits to be taken in by a cluster.
     */
    static Optional<DirectoryIdentity> identify(Disk disk, LogOptions options) throws IOException {
        List<String> names = disk.list();
        if (names.contains(DirectoryIdentity.NAME)) {
            DirectoryIdentity identity = DirectoryIdentity.read(disk);
            if (identity.memberId() != options.memberId()) {
                throw new LogException(disk.describe(DirectoryIdentity.NAME) + " belongs to member "
                        + identity.memberId() + ", but this is member " + options.memberId());
            }
            removeTemporary(disk, names);
            return Optional.of(identity);
        }
        requireEmpty(disk, names);
        if (!options.bootstrap()) {
            return Optional.empty();
        }
        if (startsOne(names, SET_ASIDE)) {
            throw new LogException("the log in " + disk + " was set aside: its member can only join the others, which"
                    + " have the data. To begin a new cluster name an empty directory");
        }
        DirectoryIdentity identity = bear(disk, options);
        log.info("{}: new cluster {}, member {}", disk, identity.clusterId(), identity.memberId());
        return Optional.of(identity);
    }

    private static DirectoryIdentity bear(Disk disk, LogOptions options) throws IOException {
        try {
            return begin(disk, options, options.clusterIds().get(), true);
        } catch (DiskFullException e) {
            throw noRoomToBegin(disk, options, e);
        }
    }

    /**
     * A member that has a log starts on a full disk; a cluster does not begin on one, for it could not keep anything.
     */
    static LogException noRoomToBegin(Disk disk, LogOptions options, DiskFullException cause) {
        return new LogException(
                "a cluster cannot begin in " + disk + ": " + cause.getMessage() + "; the first segment of its log alone"
                        + " needs " + options.firstSegmentBytes() + " bytes",
                cause);
    }

    private static void requireEmpty(Disk disk, List<String> names) throws IOException {
        String strangers = names.stream()
                .filter(name -> !LEFT_BY_BOOTSTRAP.contains(name) && !name.startsWith(SET_ASIDE))
                .sorted()
                .collect(Collectors.joining(", "));
        if (!strangers.isEmpty()) {
            throw new LogException(disk + " is not empty (" + strangers + ") but has no file " + DirectoryIdentity.NAME
                    + ": it is no log directory, or its identity was lost. Name an empty directory");
        }
        if (names.contains(VoteFile.NAME) && !VoteFile.isUnused(disk)) {
            throw new LogException(disk + " has a vote file that was in use, but no file " + DirectoryIdentity.NAME
                    + ": its identity and log were lost. Name an empty directory");
        }
    }

    /**
     * Makes an empty directory that of a member; an adopted one has nothing yet, a bootstrapped one has the only vote.
     */
    static DirectoryIdentity begin(Disk disk, LogOptions options, UUID clusterId, boolean bootstrappedHere)
            throws IOException {
        DirectoryIdentity identity = new DirectoryIdentity(
                clusterId,
                options.memberId(),
                directoryId(options),
                bootstrappedHere,
                options.wallClockMs().getAsLong());
        begin(disk, identity, StoredVote.NONE);
        return identity;
    }

    static void begin(Disk disk, DirectoryIdentity identity, StoredVote vote) throws IOException {
        String temporary = VoteFile.NAME + LogFormat.TEMPORARY;
        disk.delete(temporary);
        VoteFile.create(disk, temporary, identity.clusterId(), vote);
        disk.rename(temporary, VoteFile.NAME);
        disk.syncDirectory();
        // last: with it the directory has an owner, and what is missing then is damage
        identity.write(disk);
    }

    /** Whether there is nothing in it, but for what an interrupted bootstrap may have left. */
    public static boolean isEmpty(Disk disk) throws IOException {
        return disk.list().stream().allMatch(LogDirectory::isLeftByBootstrap);
    }

    static boolean isLeftByBootstrap(String name) {
        return LEFT_BY_BOOTSTRAP.contains(name);
    }

    static boolean isSetAside(String name) {
        return name.startsWith(SET_ASIDE);
    }

    /** A new id for a directory. */
    static long directoryId(LogOptions options) {
        long id = options.directoryIds().getAsLong();
        return id == 0 ? 1 : id;
    }

    private static void removeTemporary(Disk disk, List<String> names) throws IOException {
        for (String name : names) {
            if (name.endsWith(LogFormat.TEMPORARY) && !name.startsWith(SET_ASIDE)) {
                disk.delete(name);
            }
        }
        // what is listed may not be durable yet, if the last process was killed in between
        disk.syncDirectory();
    }
}
