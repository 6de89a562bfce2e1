package io.conclave.consensus.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A whole snapshot, held open although it may be deleted meanwhile. One thread at a time, of any kind. */
public interface StoredSnapshot extends Closeable {
    long lastIndex();

    long lastTerm();

    /** In bytes, with header and end. */
    long length();

    /** Reads until the buffer is full or the file ends. */
    int read(ByteBuffer target, long offset) throws IOException;
}
