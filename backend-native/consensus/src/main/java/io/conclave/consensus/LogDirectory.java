package io.conclave.consensus;

import io.conclave.consensus.disk.DirectoryInUseException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directory as a whole: who may use it, whose it is, and its birth. */
final class LogDirectory {
    private static final Logger log = LoggerFactory.getLogger(LogDirectory.class);
    private static final String LOCK = "lock";

    /** What an interrupted birth may have left; nothing in it was ever promised to anybody. */
    private static final Set<String> LEFT_BY_BIRTH =
            Set.of(LOCK, VoteFile.NAME, VoteFile.NAME + LogFormat.TEMPORARY, Identity.NAME + LogFormat.TEMPORARY);

    private LogDirectory() {}

    /** Locks the directory against others until the returned handle is closed. */
    static Closeable lock(Disk disk) throws IOException {
        try {
            return disk.lock(LOCK);
        } catch (DirectoryInUseException e) {
            throw new LogException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The directory's identity; an empty directory becomes a new cluster, if the options allow it. */
    static Identity identify(Disk disk, LogOptions options) throws IOException {
        List<String> names = disk.list();
        Identity identity = names.contains(Identity.NAME) ? Identity.read(disk) : birth(disk, options, names);
        if (identity.memberId() != options.memberId()) {
            throw new LogException(disk.describe(Identity.NAME) + " belongs to member " + identity.memberId()
                    + ", but this is member " + options.memberId());
        }
        removeTemporary(disk, names);
        return identity;
    }

    private static Identity birth(Disk disk, LogOptions options, List<String> names) throws IOException {
        String strangers = names.stream()
                .filter(name -> !LEFT_BY_BIRTH.contains(name))
                .sorted()
                .collect(Collectors.joining(", "));
        if (!strangers.isEmpty()) {
            throw new LogException(disk + " is not empty (" + strangers + ") but has no file " + Identity.NAME
                    + ": it is no log directory, or its identity was lost. Name an empty directory");
        }
        if (names.contains(VoteFile.NAME) && !VoteFile.isUnused(disk)) {
            throw new LogException(disk + " has a vote file that was in use, but no file " + Identity.NAME
                    + ": its identity and log were lost. Name an empty directory");
        }
        if (!options.birth()) {
            throw new LogException(disk + " is empty, and making a new cluster here is not allowed by the options");
        }
        Identity identity = new Identity(
                options.clusterIds().get(),
                options.memberId(),
                options.featureLevel(),
                options.wallClockMs().getAsLong());
        writeBirth(disk, identity);
        log.info("{}: new cluster {}, member {}", disk, identity.clusterId(), identity.memberId());
        return identity;
    }

    /** The identity comes last: with it, the directory is born, and whatever is missing then is damage. */
    private static void writeBirth(Disk disk, Identity identity) throws IOException {
        String vote = VoteFile.NAME + LogFormat.TEMPORARY;
        disk.delete(vote);
        VoteFile.create(disk, vote, identity);
        disk.rename(vote, VoteFile.NAME);
        disk.syncDirectory();
        String temporary = Identity.NAME + LogFormat.TEMPORARY;
        disk.delete(temporary);
        try (DiskFile file = disk.create(temporary)) {
            file.write(identity.encode(), 0);
            file.sync();
        }
        disk.rename(temporary, Identity.NAME);
        disk.syncDirectory();
    }

    private static void removeTemporary(Disk disk, List<String> names) throws IOException {
        for (String name : names) {
            if (name.endsWith(LogFormat.TEMPORARY)) {
                disk.delete(name);
            }
        }
        // what is listed may not be durable yet, if the last process was killed in between
        disk.syncDirectory();
    }
}
