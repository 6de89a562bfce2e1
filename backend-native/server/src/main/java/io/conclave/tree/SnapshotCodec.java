package io.conclave.tree;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A state as a stream of bytes: never the whole of it in memory a second time.
 *
 * <p>The stream is a row of chunks (length, CRC32C, content) that ends with a length of zero. The first chunk is the
 * header: magic, version, cluster id, generation, feature level, term, last zxid and time, number of sessions, digest.
 * Then come the sessions and the nodes, parents before children, each with the number of its children. A record lies
 * within one chunk. What follows from the nodes (totals, what is reaped, the ephemerals of a session) is not written. A
 * container and a node with a time to live are recognized by their owner; members that write the latter are at a
 * feature level that earlier members refuse.
 */
public final class SnapshotCodec {
    static final int MAGIC = 0x434e5453; // CNTS
    /** What members of all versions read. */
    static final int VERSION_WITHOUT_DIGEST = 2;

    /** Has the digest of the state at the end of its header. */
    static final int VERSION = 3;

    /** At this feature level all members read {@link #VERSION}. */
    static final int DIGEST_FEATURE_LEVEL = 2;

    /** A chunk is closed with the first record that fills it to this. */
    static final int CHUNK_BYTES = 64 * 1024;

    /** What is longer must be damage: a record holds one node. */
    public static final int MAX_CHUNK_BYTES = 1 << 28;

    private SnapshotCodec() {}

    /**
     * Writes a state; blocks as the stream blocks. Any thread may call, also while the tree moves on.
     *
     * @param out written to in chunks of some 64 KB; flushed and not closed
     */
    public static void write(TreeState state, OutputStream out) throws IOException {
        new SnapshotWriter(state, out).write();
    }

    /**
     * Reads what {@link #write} has written, to the end of the stream.
     *
     * @throws TreeFormatException if the bytes are damaged, cut, too many or of an unknown version
     */
    public static TreeState read(InputStream in) throws IOException {
        return read(in, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /**
     * The same of a state whose size is known. What goes beyond is not read: a state can need far more memory than its
     * bytes, for the paths in it are put together.
     *
     * @param sessions how many it has
     * @param nodes how many znodes it has
     * @param dataBytes the characters of their paths and the bytes of their data
     */
    public static TreeState read(InputStream in, long sessions, long nodes, long dataBytes) throws IOException {
        return new SnapshotReader(in, sessions, nodes, dataBytes).read();
    }
}
