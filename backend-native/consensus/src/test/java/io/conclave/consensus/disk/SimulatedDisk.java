package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A disk in memory that keeps its promises and nothing more: at a power failure whatever was not synced is lost, kept
 * or torn at sectors of 512 bytes, in any order, entries of the directory included. Deterministic from its seed. For
 * one thread at a time.
 */
public final class SimulatedDisk implements Disk {
    private static final int SECTOR = 512;

    /** A file system writes changes of its directories by itself when enough of them have gathered. */
    private static final int MAX_UNSYNCED_CHANGES = 50;

    private final Random random;
    private Map<String, Inode> names = new TreeMap<>();
    private Map<String, Inode> durableNames = new TreeMap<>();
    private final List<NameChange> unsyncedChanges = new ArrayList<>();
    private final Set<String> locks = new HashSet<>();
    private long capacity = Long.MAX_VALUE;
    private int operationsUntilFailure = -1;
    private boolean failed;
    private int generation;
    private String brokenSyncPrefix = "";
    private String brokenReadPrefix = "";
    private int syncsUntilFailure = -1;
    private String failingSyncPrefix = "";
    private boolean syncFailed;

    private static final class Inode {
        private byte[] data = new byte[0];
        private byte[] durable = new byte[0];
        private final BitSet dirty = new BitSet();
    }

    private record NameChange(String removed, String added, Inode inode) {
        void applyTo(Map<String, Inode> map) {
            if (!removed.isEmpty() && map.get(removed) == inode) {
                map.remove(removed);
            }
            if (!added.isEmpty()) {
                map.put(added, inode);
            }
        }
    }

    public SimulatedDisk(long seed) {
        random = new Random(seed);
    }

    // ---- faults

    /** Ends the process in the middle of the n-th changing operation from now; -1 for never. */
    public void failAfter(int operations) {
        operationsUntilFailure = operations;
    }

    /** Whether {@link #failAfter} has struck. */
    public boolean hasFailed() {
        return failed;
    }

    /** Bytes that fit on the disk; growing beyond them fails with {@link DiskFullException}. */
    public void capacity(long bytes) {
        capacity = bytes;
    }

    /** Bytes by which the files may still grow. */
    public long room() {
        return capacity - used();
    }

    /** Bytes that the files have. */
    public long used() {
        return names.values().stream().mapToLong(inode -> inode.data.length).sum();
    }

    /** Syncs of files whose names start so fail with an I/O error; empty for none. */
    public void breakSyncs(String prefix) {
        brokenSyncPrefix = prefix;
    }

    /** Reads of files whose names start so fail with an I/O error; empty for none. */
    public void breakReads(String prefix) {
        brokenReadPrefix = prefix;
    }

    /**
     * The n-th sync from now of files whose names start so fails with an I/O error, and what it should have saved
     * counts as saved from then on, as on Linux: readers see it, no later sync writes it, and a power failure loses it.
     * -1 for never.
     */
    public void failSyncAfter(int syncs, String prefix) {
        syncsUntilFailure = syncs;
        failingSyncPrefix = prefix;
    }

    /** Whether {@link #failSyncAfter} has taken effect in this process. */
    public boolean hasFailedSync() {
        return syncFailed;
    }

    /** Bit rot: flips one bit, durable at once. */
    public void flipBit(String name, long offset) {
        Inode inode = names.get(name);
        inode.data[(int) offset] ^= 1;
        if (offset < inode.durable.length) {
            inode.durable[(int) offset] = inode.data[(int) offset];
        }
    }

    /** The bytes of a file as a reader sees them. */
    public byte[] bytes(String name) {
        return names.get(name).data.clone();
    }

    /** The bytes of a file as they would be after a power failure in which nothing unsynced survives. */
    public byte[] durableBytes(String name) {
        return names.get(name).durable.clone();
    }

    /** What is on it but for locks, as a copy of the volume has it; for {@link #put} on another disk. */
    public Map<String, byte[]> image() {
        Map<String, byte[]> image = new TreeMap<>();
        names.forEach((name, inode) -> {
            if (!locks.contains(name)) {
                image.put(name, inode.data.clone());
            }
        });
        return image;
    }

    /** Puts a file there, durable. */
    public void put(String name, byte[] bytes) {
        Inode inode = new Inode();
        inode.data = bytes.clone();
        inode.durable = bytes.clone();
        names.put(name, inode);
        durableNames.put(name, inode);
    }

    /** The process ends, the machine stays up: nothing is lost, but what was not synced still can be. */
    public void kill() {
        restart();
    }

    /** The machine loses power and starts again. */
    public void losePower() {
        double kept = new double[] {0, 0.2, 0.5, 0.8, 1}[random.nextInt(5)];
        Map<String, Inode> after = new TreeMap<>(durableNames);
        for (NameChange change : unsyncedChanges) {
            if (random.nextDouble() < kept) {
                change.applyTo(after);
            }
        }
        Map<Inode, Boolean> seen = new IdentityHashMap<>();
        for (Inode inode : after.values()) {
            if (seen.put(inode, true) == null) {
                tear(inode, kept);
            }
        }
        names = after;
        durableNames = new TreeMap<>(after);
        unsyncedChanges.clear();
        restart();
    }

    private void tear(Inode inode, double kept) {
        int size = random.nextDouble() < kept ? inode.data.length : inode.durable.length;
        byte[] result = Arrays.copyOf(inode.durable, size);
        for (int sector = inode.dirty.nextSetBit(0); sector >= 0; sector = inode.dirty.nextSetBit(sector + 1)) {
            int from = sector * SECTOR;
            int length = Math.min(Math.min(SECTOR, size - from), inode.data.length - from);
            if (length > 0 && random.nextDouble() < kept) {
                System.arraycopy(inode.data, from, result, from, length);
            }
        }
        inode.data = result;
        inode.durable = result.clone();
        inode.dirty.clear();
    }

    private void restart() {
        generation++;
        locks.clear();
        failed = false;
        operationsUntilFailure = -1;
        syncFailed = false;
        syncsUntilFailure = -1;
    }

    /** Counts an operation; true if the process ends in the middle of it. */
    private boolean strikes() {
        if (failed) {
            throw new PowerFailure();
        }
        if (operationsUntilFailure > 0 && --operationsUntilFailure == 0) {
            failed = true;
        }
        return failed;
    }

    private void endIf(boolean strikes) {
        if (strikes) {
            throw new PowerFailure();
        }
    }

    // ---- Disk

    @Override
    public List<String> list() {
        return new ArrayList<>(names.keySet());
    }

    @Override
    public DiskFile open(String name) throws IOException {
        Inode inode = names.get(name);
        if (inode == null) {
            throw new NoSuchFileException(describe(name));
        }
        return new SimulatedFile(inode, name);
    }

    @Override
    public DiskFile create(String name) throws IOException {
        if (names.containsKey(name)) {
            throw new FileAlreadyExistsException(describe(name));
        }
        boolean strikes = strikes();
        Inode inode = new Inode();
        change(new NameChange("", name, inode));
        endIf(strikes);
        return new SimulatedFile(inode, name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Inode inode = names.get(from);
        if (inode == null) {
            throw new NoSuchFileException(describe(from));
        }
        boolean strikes = strikes();
        change(new NameChange(from, to, inode));
        endIf(strikes);
    }

    @Override
    public void delete(String name) {
        boolean strikes = strikes();
        Inode inode = names.get(name);
        if (inode != null) {
            change(new NameChange(name, "", inode));
        }
        endIf(strikes);
    }

    private void change(NameChange change) {
        change.applyTo(names);
        unsyncedChanges.add(change);
        if (unsyncedChanges.size() > MAX_UNSYNCED_CHANGES) {
            makeNamesDurable();
        }
    }

    private void makeNamesDurable() {
        durableNames = new TreeMap<>(names);
        unsyncedChanges.clear();
    }

    @Override
    public void syncDirectory() {
        endIf(strikes());
        makeNamesDurable();
    }

    @Override
    public Closeable lock(String name) throws IOException {
        if (!names.containsKey(name)) {
            create(name);
        }
        if (!locks.add(name)) {
            throw new DirectoryInUseException(this + " is in use (its lock file is " + describe(name) + ")");
        }
        int holder = generation;
        return () -> {
            if (holder == generation) {
                locks.remove(name);
            }
        };
    }

    @Override
    public String describe(String name) {
        return "simulated/" + name;
    }

    @Override
    public String toString() {
        return "simulated";
    }

    private final class SimulatedFile implements DiskFile {
        private final Inode inode;
        private final String name;
        private final int opened = generation;

        SimulatedFile(Inode inode, String name) {
            this.inode = inode;
            this.name = name;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            requireAlive();
            if (!brokenReadPrefix.isEmpty() && name.startsWith(brokenReadPrefix)) {
                throw new IOException("Input/output error (simulated) on " + describe(name));
            }
            int count = (int) Math.max(0, Math.min(target.remaining(), inode.data.length - position));
            if (count > 0) {
                target.put(inode.data, (int) position, count);
            }
            return count;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            requireAlive();
            boolean strikes = strikes();
            if (strikes && random.nextBoolean()) {
                source.limit(source.position() + random.nextInt(source.remaining() + 1));
            }
            int end = (int) position + source.remaining();
            if (source.hasRemaining()) { // no bytes make no file longer, wherever they are written
                if (end > inode.data.length) {
                    grow(end);
                }
                inode.dirty.set((int) position / SECTOR, (end - 1) / SECTOR + 1);
                source.get(inode.data, (int) position, source.remaining());
            }
            endIf(strikes);
        }

        private void grow(int end) throws IOException {
            if (used() + end - inode.data.length > capacity) {
                throw new DiskFullException("no room for " + describe(name) + " (" + room() + " bytes are free)");
            }
            inode.data = Arrays.copyOf(inode.data, end);
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            int length = source.remaining();
            write(source, position);
            endIf(strikes());
            requireWorking();
            makeDurable((int) position / SECTOR, ((int) position + length + SECTOR - 1) / SECTOR);
        }

        @Override
        public void sync() throws IOException {
            requireAlive();
            endIf(strikes());
            requireWorking();
            makeDurable(0, inode.data.length / SECTOR + 1);
        }

        private void makeDurable(int fromSector, int toSector) {
            if (inode.durable.length != inode.data.length) {
                inode.durable = Arrays.copyOf(inode.durable, inode.data.length);
            }
            for (int i = inode.dirty.nextSetBit(fromSector);
                    i >= 0 && i < toSector;
                    i = inode.dirty.nextSetBit(i + 1)) {
                int from = i * SECTOR;
                System.arraycopy(inode.data, from, inode.durable, from, Math.min(SECTOR, inode.data.length - from));
            }
            inode.dirty.clear(fromSector, toSector);
        }

        private void requireWorking() throws IOException {
            if (!brokenSyncPrefix.isEmpty() && name.startsWith(brokenSyncPrefix)) {
                throw new IOException("Input/output error (simulated) on " + describe(name));
            }
            if (syncsUntilFailure > 0 && name.startsWith(failingSyncPrefix) && --syncsUntilFailure == 0) {
                syncFailed = true;
                if (inode.durable.length != inode.data.length) {
                    inode.durable = Arrays.copyOf(inode.durable, inode.data.length);
                }
                inode.dirty.clear();
                throw new IOException("Input/output error (simulated) on " + describe(name));
            }
        }

        private void requireAlive() {
            if (failed || opened != generation) {
                throw new PowerFailure();
            }
        }

        @Override
        public long size() {
            return inode.data.length;
        }

        @Override
        public void close() {}
    }
}
