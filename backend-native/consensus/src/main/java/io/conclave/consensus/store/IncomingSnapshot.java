package io.conclave.consensus.store;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * A snapshot that is being received: written, verified, installed, read, in this order. Chunks may be written on any
 * one thread; it survives a change of leader, not a restart.
 */
public interface IncomingSnapshot {
    /** How many bytes are here. */
    long received();

    /**
     * Adds a chunk that begins at {@link #received}; in the background, for it may wait for the disk. One at a time.
     *
     * @throws CancelledException if it was given up meanwhile
     * @throws io.conclave.consensus.disk.DiskFullException if there is no room; the snapshot is to be given up
     *     then, nothing else has suffered
     */
    void write(byte[] chunk) throws IOException;

    /**
     * Checks the whole file; to be called when everything is here, in the background. Answers with what it stands for;
     * the file is durable under its name then, but not yet what the log goes on from.
     *
     * @throws io.conclave.consensus.DamagedLogException if the check fails; the file is gone then, as with any other
     *     exception
     * @throws CancelledException if it was given up meanwhile
     * @throws io.conclave.consensus.LogException if it uses features that this software does not know
     * @throws io.conclave.consensus.disk.DiskFullException if there is no room; nothing else has suffered
     */
    SnapshotPosition verify() throws IOException;

    /**
     * Makes the log begin behind the snapshot: what was in it is forgotten. On the member's thread; durable on return.
     *
     * @throws IllegalStateException if the log is known to be committed up to there or farther, or the snapshot is not
     *     verified
     */
    void install() throws IOException;

    /**
     * Gives the application's part of an installed snapshot to the reader, once; in the background.
     *
     * @throws CancelledException if it was given up meanwhile
     */
    void read(Consumer<InputStream> reader) throws IOException;

    /** Gives it up. The log keeps one that is installed; only the reading of it ends. */
    void discard() throws IOException;
}
