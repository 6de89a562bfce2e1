package io.conclave.importing;

import io.conclave.protocol.Frames;
import io.conclave.tree.ImportedState;
import io.conclave.tree.ImportedState.Imported;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The data of a ZooKeeper server that does not run: its newest whole snapshot, and all transactions behind it. */
public final class ForeignData {
    private static final String VERSION_DIRECTORY = "version-2";

    private final List<String> notes = new ArrayList<>();
    private long lastZxid;
    private long lastLoggedZxid;
    private long lastTimeMs;
    private long transactions;

    private ForeignData() {}

    /**
     * What was read.
     *
     * @param logs all that were read, the oldest first
     * @param transactions how many follow the snapshot
     * @param sessions how many had not ended, with ephemerals or without
     * @param isConfirmed whether the digest of the tree fits that ZooKeeper wrote with the last transaction, or
     *     with the snapshot if no transaction follows it
     * @param notes files that were left out, ends of logs that were cut or come too early, and znodes that are too
     *     large to be written again, a sentence each
     */
    public record Contents(
            TreeState state,
            Path snapshot,
            List<Path> logs,
            long transactions,
            int sessions,
            boolean isConfirmed,
            List<String> notes) {
        public Contents {
            logs = List.copyOf(logs);
            notes = List.copyOf(notes);
        }
    }

    /**
     * Reads it, and changes nothing. Blocks; needs a heap for the tree.
     *
     * @param snapshots dataDir, or the directory {@code version-2} in it
     * @param logs dataLogDir; the same as dataDir in most configurations
     * @param featureLevel of the state
     * @throws ForeignDataException if something is not understood, damaged or missing
     * @throws IOException if there is no whole snapshot, or a file cannot be read
     */
    public static Contents read(Path snapshots, Path logs, int featureLevel) throws IOException {
        return new ForeignData().readAll(versioned(snapshots), versioned(logs), featureLevel);
    }

    private static Path versioned(Path directory) {
        Path below = directory.resolve(VERSION_DIRECTORY);
        return Files.isDirectory(below) ? below : directory;
    }

    private Contents readAll(Path snapshots, Path logs, int featureLevel) throws IOException {
        Numbered snapshot = newestWhole(snapshots);
        ForeignSnapshot read = ForeignSnapshot.read(snapshot.file());
        ReplayedTree tree = read.tree();
        lastZxid = snapshot.zxid();
        DigestComparison digests = new DigestComparison(tree, read.digestAt(lastZxid));
        Transactions replayed = new Transactions(tree);
        List<Path> behind = logsBehind(snapshot.zxid(), logs);
        for (Path log : behind) {
            replay(log, replayed, digests);
        }
        noteLogsThatEndEarly(snapshot);
        boolean isConfirmed = digests.finish(notes);
        Map<String, Imported> znodes = known(tree, snapshot.file());
        for (Imported znode : znodes.values()) {
            lastTimeMs = Math.max(lastTimeMs, Math.max(znode.ctime(), znode.mtime()));
            lastZxid = Math.max(lastZxid, Math.max(znode.mzxid(), znode.pzxid()));
        }
        noteLarge(znodes);
        TreeState state = ImportedState.of(znodes, featureLevel, lastZxid, lastTimeMs);
        return new Contents(state, snapshot.file(), behind, transactions, tree.sessionCount(), isConfirmed, notes);
    }

    /** ZooKeeper's own limit can be raised ({@code jute.maxbuffer}); that of our server cannot. */
    private void noteLarge(Map<String, Imported> znodes) {
        List<String> large = znodes.entrySet().stream()
                .filter(znode -> bytesOf(znode.getValue()) > Frames.DEFAULT_MAX_PAYLOAD_BYTES)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        if (!large.isEmpty()) {
            notes.add("Znodes with more data than a request may have, which is " + Frames.DEFAULT_MAX_PAYLOAD_BYTES
                    + " bytes: " + large.size() + ", the first is " + large.get(0) + " with "
                    + bytesOf(Objects.requireNonNull(znodes.get(large.get(0))))
                    + " bytes. They are imported, and can be read by clients that take so much; what is written to them"
                    + " from now on must be smaller.");
        }
    }

    private static int bytesOf(Imported znode) {
        byte[] data = znode.data();
        return data == null ? 0 : data.length;
    }

    private static Map<String, Imported> known(ReplayedTree tree, Path snapshot) throws IOException {
        Map<String, Imported> znodes = new HashMap<>();
        for (Map.Entry<String, ReplayedTree.Node> entry : tree.znodes().entrySet()) {
            ZnodeAcl acl = entry.getValue().acl;
            if (acl == null) {
                throw new IOException(snapshot + ": " + entry.getKey()
                        + " has an ACL that is not listed, and no transaction behind the snapshot sets it.");
            }
            znodes.put(entry.getKey(), entry.getValue().imported(acl));
        }
        return znodes;
    }

    // ---- files

    /** A file with the zxid that its name has. */
    private record Numbered(Path file, long zxid) {}

    private static List<Numbered> files(Path directory, String prefix) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            List<Numbered> found = new ArrayList<>();
            for (Path file : all.toList()) {
                numberIn(String.valueOf(file.getFileName()), prefix)
                        .ifPresent(zxid -> found.add(new Numbered(file, zxid)));
            }
            found.sort(Comparator.comparingLong(Numbered::zxid));
            return found;
        }
    }

    private static OptionalLong numberIn(String name, String prefix) {
        if (!name.startsWith(prefix)) {
            return OptionalLong.empty();
        }
        String number = name.substring(prefix.length()).replaceFirst("\\.(gz|snappy)$", "");
        try {
            return OptionalLong.of(Long.parseLong(number, 16));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** One whose end is missing was being written when ZooKeeper ended; it leaves those out, too. */
    private Numbered newestWhole(Path directory) throws IOException {
        List<Numbered> all = files(directory, ForeignSnapshot.PREFIX);
        for (int i = all.size() - 1; i >= 0; i--) {
            Numbered snapshot = all.get(i);
            if (ForeignSnapshot.isWhole(snapshot.file())) {
                return snapshot;
            }
            notes.add(snapshot.file() + " was not written to its end and is left out.");
        }
        throw new IOException(directory + " has no whole snapshot of ZooKeeper (" + ForeignSnapshot.PREFIX + "*).");
    }

    /** From the log on that may have the next transaction. */
    private static List<Path> logsBehind(long zxid, Path directory) throws IOException {
        List<Numbered> all = files(directory, ForeignLog.PREFIX);
        if (all.isEmpty() && zxid > 0) {
            throw new IOException(directory + " has no transaction log of ZooKeeper (" + ForeignLog.PREFIX
                    + "*), so what was written after the snapshot is not known; name the dataLogDir.");
        }
        int first = 0;
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).zxid() <= zxid + 1) {
                first = i;
            }
        }
        return all.subList(first, all.size()).stream().map(Numbered::file).toList();
    }

    // ---- replaying

    private void replay(Path file, Transactions replayed, DigestComparison digests) throws IOException {
        boolean isFirst = true;
        try (ForeignLog log = new ForeignLog(file)) {
            for (JuteFile in = log.next(); in != null; in = log.next()) {
                long start = in.offset();
                Transactions.Header header = Transactions.Header.read(in);
                lastLoggedZxid = Math.max(lastLoggedZxid, header.zxid());
                if (header.zxid() > lastZxid) {
                    requireNext(in, start, header.zxid());
                    if (isFirst && epochOf(header.zxid()) != epochOf(lastZxid)) {
                        digests.epochBegins(file, lastZxid, header.zxid());
                    }
                    digests.replayed(replayed.replay(header, in));
                    lastZxid = header.zxid();
                    lastTimeMs = Math.max(lastTimeMs, header.timeMs());
                    transactions++;
                }
                isFirst = false;
            }
            if (log.isTorn()) {
                notes.add(file + " ends in the middle of a transaction, which was never acknowledged.");
            }
        }
    }

    /**
     * ZooKeeper logs a transaction before a snapshot has it, but for one that its leader sent. A new leader counts
     * on from an epoch's number 0, which no transaction has.
     */
    private void noteLogsThatEndEarly(Numbered snapshot) {
        if (lastLoggedZxid < snapshot.zxid() && numberInEpoch(snapshot.zxid()) > 0) {
            notes.add("The logs end at 0x" + Long.toHexString(lastLoggedZxid) + ", before " + snapshot.file()
                    + ". Unless the leader sent that snapshot to this server, the newest logs are missing: is this the"
                    + " right dataLogDir?");
        }
    }

    /** Each transaction has the next number; a new leader begins a new epoch with its first. */
    private void requireNext(JuteFile in, long start, long zxid) throws ForeignDataException {
        boolean isNewEpoch = epochOf(zxid) > epochOf(lastZxid);
        if (zxid != lastZxid + 1 && !(isNewEpoch && numberInEpoch(zxid) <= 1)) {
            throw in.refused(
                    start,
                    "transactions are missing: 0x" + Long.toHexString(zxid) + " follows 0x" + Long.toHexString(lastZxid)
                            + "; is this the right dataLogDir?");
        }
    }

    private static long epochOf(long zxid) {
        return zxid >>> Integer.SIZE;
    }

    private static long numberInEpoch(long zxid) {
        return zxid & 0xffff_ffffL;
    }
}
