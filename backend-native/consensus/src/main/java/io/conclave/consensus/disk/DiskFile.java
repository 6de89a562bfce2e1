package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file of a {@link Disk}. Not for several threads at once. */
public interface DiskFile extends Closeable {

    /** Reads from the position until the buffer is full or the file ends; returns how many bytes (0 at the end). */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all that remains in the buffer at the position; durable only after {@link #sync}. */
    void write(ByteBuffer source, long position) throws IOException;

    /**
     * Writes all that remains in the buffer at the position inside the file, and returns when these bytes are durable.
     * Says nothing about bytes written before by {@link #write}.
     */
    void writeSynced(ByteBuffer source, long position) throws IOException;

    /** Makes everything written so far durable, and the file's size. */
    void sync() throws IOException;

    /** The file's size in bytes. */
    long size() throws IOException;
}
