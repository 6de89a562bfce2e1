package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A snapshot on its way in: a temporary file until it is verified, then {@code received-*}, which recovery deletes unless
 * the vote file says that the log begins with it.
 */
final class ReceivedSnapshot implements IncomingSnapshot {

    /** Makes the log begin behind a snapshot whose file has the given name of a received one. */
    interface Installer {
        void install(SnapshotPosition position, String name) throws IOException;
    }

    private final Disk disk;
    private final UUID clusterId;
    private final Announced announced;
    private final String name;
    private final String temporary;
    private final Installer installer;

    /** Deletes files elsewhere: of a large one that takes a while. */
    private final Consumer<List<String>> deleter;

    private final DiskFile file;
    private volatile long received;
    private long synced;

    /** Any thread: the writing or verifying one may be told meanwhile that the snapshot is given up, and cleans up then. */
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.RECEIVING);

    /** Written before {@link Phase#VERIFIED}. */
    private SnapshotPosition verified = Snapshots.NONE;

    private enum Phase {
        RECEIVING,
        /** A piece is being written; after and before RECEIVING. */
        WRITING,
        /** After RECEIVING. */
        VERIFYING,
        /** After VERIFYING. */
        VERIFIED,
        /** After any: installed or given up. */
        GONE
    }

    ReceivedSnapshot(
            Disk disk,
            UUID clusterId,
            Announced announced,
            String name,
            Installer installer,
            Consumer<List<String>> deleter)
            throws IOException {
        this.disk = disk;
        this.clusterId = clusterId;
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
    public void write(byte[] piece) throws IOException {
        if (!phase.compareAndSet(Phase.RECEIVING, Phase.WRITING)) {
            requireWanted();
            throw new IllegalStateException(this + " takes no more pieces");
        }
        try {
            put(piece);
        } finally {
            if (!phase.compareAndSet(Phase.WRITING, Phase.RECEIVING)) {
                cleanUp();
            }
        }
        requireWanted();
    }

    private void put(byte[] piece) throws IOException {
        if (received + piece.length > announced.length) {
            throw new IllegalArgumentException(
                    "a piece of " + piece.length + " bytes at " + received + " goes beyond the end of " + this);
        }
        long at = received;
        file.write(ByteBuffer.wrap(piece), at);
        long end = at + piece.length;
        if (end - synced >= SnapshotFile.SYNC_BYTES) {
            file.sync();
            synced = end;
        }
        received = end;
    }

    @Override
    public SnapshotPosition verify(Consumer<InputStream> reader) throws IOException {
        if (!phase.compareAndSet(Phase.RECEIVING, Phase.VERIFYING)) {
            throw new IllegalStateException(this + " was verified or given up before");
        }
        boolean done = false;
        try {
            SnapshotPosition position = readThrough(reader);
            requireWanted();
            SnapshotFile.publish(disk, temporary, name);
            verified = position;
            done = phase.compareAndSet(Phase.VERIFYING, Phase.VERIFIED);
            requireWanted();
            return position;
        } finally {
            if (!done) {
                phase.set(Phase.GONE);
                cleanUp();
            }
        }
    }

    private SnapshotPosition readThrough(Consumer<InputStream> reader) throws IOException {
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
        try (InputStream state = SnapshotFile.state(file, found)) {
            reader.accept(state);
        }
        return position;
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
        installer.install(verified, name);
        phase.set(Phase.GONE);
        file.close();
    }

    @Override
    public void discard() throws IOException {
        Phase before = phase.getAndSet(Phase.GONE);
        if (before == Phase.RECEIVING || before == Phase.VERIFIED) {
            file.close();
            deleter.accept(List.of(temporary, name));
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
