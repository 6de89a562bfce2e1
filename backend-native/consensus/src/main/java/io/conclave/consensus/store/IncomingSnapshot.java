package io.conclave.consensus.store;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/** A snapshot that is being received. Pieces may be written on any one thread; it survives a change of leader, not a restart. */
public interface IncomingSnapshot {
    /** How many bytes are here. */
    long received();

    /** Adds a piece that begins at {@link #received}. */
    void write(byte[] piece) throws IOException;

    /**
     * Checks the whole file and gives the application's part to the reader; to be called when everything is here, in the
     * background. Answers with what it stands for; the file is durable under its name then, but not yet what the log goes on from.
     *
     * @throws io.conclave.consensus.DamagedLogException if the check fails; the file is gone then
     */
    SnapshotPosition verify(Consumer<InputStream> reader) throws IOException;

    /** Makes the log begin behind the snapshot: whatever was in it is forgotten. On the member's thread; durable on return. */
    void install() throws IOException;

    /** Gives it up. */
    void discard() throws IOException;
}
