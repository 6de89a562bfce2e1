package io.conclave.tree;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Optional;

/** The bytes of {@link SnapshotCodec} in pieces of some 64 KB, each made when it is asked for. For one thread. */
public final class SnapshotPieces {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final SnapshotWriter writer;
    private boolean over;

    /** The pieces of a state, which may be replaced by later ones meanwhile. */
    public SnapshotPieces(TreeState state) {
        this.writer = new SnapshotWriter(state, bytes);
    }

    /**
     * The next piece, empty behind the last one.
     *
     * @throws IOException if the state in memory is not what its digest says
     */
    public Optional<byte[]> next() throws IOException {
        if (over) {
            return Optional.empty();
        }
        bytes.reset();
        over = !writer.writeNextChunk();
        return Optional.of(bytes.toByteArray());
    }
}
