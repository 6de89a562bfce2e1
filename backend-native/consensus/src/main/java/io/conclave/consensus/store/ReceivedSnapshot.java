package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A snapshot on its way in: a temporary file until it is verified, then {@code received-*}, which recovery deletes
 * unless the vote file says that the log begins with it.
 */
final class ReceivedSnapshot implements IncomingSnapshot {

    /** Makes the log begin behind a snapshot whose file has the given name of a received one. */
    interface Installer {
        void install(SnapshotPosition position, String name) throws IOException;
    }

    private final Disk disk;
    private final UUID clusterId;
    private final int featureLevel;
    private final Announced announced;
    private final String name;
    private final String temporary;
    private final Installer installer;

    /** Deletes files elsewhere: of a large one that takes a while. */
    private final Consumer<List<String>> deleter;

    private final DiskFile file;
    private volatile long received;
    private long synced;

    /**
     * Any thread: the writing or verifying one may learn meanwhile that the snapshot is given up, and cleans up then.
     */
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.RECEIVING);

    /** Written before {@link Phase#VERIFIED}. */
    private SnapshotFile.Verified verified = new SnapshotFile.Verified(Snapshots.NONE, 0);

    private enum Phase {
        RECEIVING,
        /** A chunk is being written; after and before RECEIVING. */
        WRITING,
        /** After RECEIVING. */
        VERIFYING,
        /** After VERIFYING. */
        VERIFIED,
        /** After VERIFIED: the log begins with it. */
        INSTALLED,
        /** After INSTALLED. */
        READING,
        /** After any: read or given up. */
        GONE
    }

    /** @param featureLevel what this software understands */
    ReceivedSnapshot(
            Disk disk,
            UUID clusterId,
            int featureLevel,
            Announced announced,
            String name,
            Installer installer,
            Consumer<List<String>> deleter)
            throws IOException {
        this.disk = disk;
        this.clusterId = clusterId;
        this.featureLevel = featureLevel;
        this.announced = announced;
        this.name = name;
        this.temporary = name + LogFormat.TEMPORARY;
        this.installer = installer;
        this.deleter = deleter;
        disk.delete(temporary);
        this.file = disk.create(temporary);
    }

    /** Which snapshot it is. */
    record Announced(long lastIndex, long lastTerm, long length) {}

    @Override
    public long received() {
        return received;
    }

    @Override
    public void write(byte[] chunk) throws IOException {
        if (!phase.compareAndSet(Phase.RECEIVING, Phase.WRITING)) {
            requireWanted();
            throw new IllegalStateException(this + " takes no more chunks");
        }
        try {
            put(chunk);
        } finally {
            if (!phase.compareAndSet(Phase.WRITING, Phase.RECEIVING)) {
                cleanUp();
            }
        }
        requireWanted();
    }

    private void put(byte[] chunk) throws IOException {
        if (received + chunk.length > announced.length) {
            throw new IllegalArgumentException(
                    "a chunk of " + chunk.length + " bytes at " + received + " goes beyond the end of " + this);
        }
        long at = received;
        file.write(ByteBuffer.wrap(chunk), at);
        long end = at + chunk.length;
        if (end - synced >= SnapshotFile.SYNC_BYTES) {
            file.sync();
            synced = end;
        }
        received = end;
    }

    @Override
    public SnapshotPosition verify() throws IOException {
        if (!phase.compareAndSet(Phase.RECEIVING, Phase.VERIFYING)) {
            throw new IllegalStateException(this + " was verified or given up before");
        }
        boolean done = false;
        try {
            verified = check();
            requireWanted();
            SnapshotFile.publish(disk, temporary, name);
            done = phase.compareAndSet(Phase.VERIFYING, Phase.VERIFIED);
            requireWanted();
            return verified.position();
        } finally {
            if (!done) {
                phase.set(Phase.GONE);
                cleanUp();
            }
        }
    }

    private SnapshotFile.Verified check() throws IOException {
        String path = disk.describe(temporary);
        if (received != announced.length) {
            throw new DamagedLogException(path, received, "the rest of " + this + " is missing");
        }
        file.sync();
        SnapshotFile.Verified found = SnapshotFile.verify(file, path, clusterId);
        SnapshotPosition position = found.position();
        if (position.lastIndex() != announced.lastIndex || position.term() != announced.lastTerm) {
            throw new DamagedLogException(
                    path, 0, "it is of index " + position.lastIndex() + ", term " + position.term() + ", not " + this);
        }
        LogFormat.requireFeatureLevel(this, position.state().featureLevel(), featureLevel);
        return found;
    }

    private void requireWanted() throws CancelledException {
        if (phase.get() == Phase.GONE) {
            throw new CancelledException();
        }
    }

    @Override
    public void install() throws IOException {
        if (phase.get() != Phase.VERIFIED) {
            throw new IllegalStateException(this + " has not been verified");
        }
        installer.install(verified.position(), name);
        phase.set(Phase.INSTALLED);
    }

    @Override
    public void read(Consumer<InputStream> reader) throws IOException {
        if (!phase.compareAndSet(Phase.INSTALLED, Phase.READING)) {
            requireWanted();
            throw new IllegalStateException(this + " is not installed, or was read before");
        }
        try (InputStream state = new WhileWanted(SnapshotFile.state(file, verified))) {
            reader.accept(state);
            requireWanted();
        } finally {
            phase.set(Phase.GONE);
            file.close();
        }
    }

    /** A thread that writes, verifies or reads closes the file itself. */
    @Override
    public void discard() throws IOException {
        Phase before = phase.getAndSet(Phase.GONE);
        if (before == Phase.RECEIVING || before == Phase.VERIFIED) {
            file.close();
            deleter.accept(List.of(temporary, name));
        } else if (before == Phase.INSTALLED) {
            file.close();
        }
    }

    /** Ends when the snapshot is given up. */
    private final class WhileWanted extends FilterInputStream {
        WhileWanted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            requireWanted();
            return super.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            requireWanted();
            return super.read(target, offset, length);
        }
    }

    private void cleanUp() throws IOException {
        file.close();
        disk.delete(temporary);
        disk.delete(name);
    }

    @Override
    public String toString() {
        return "a snapshot of index " + announced.lastIndex + ", term " + announced.lastTerm + ", " + announced.length
                + " bytes";
    }
}
