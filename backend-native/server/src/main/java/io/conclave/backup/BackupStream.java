package io.conclave.backup;

import io.conclave.tree.SnapshotPieces;
import io.conclave.tree.TreeState;
import java.io.IOException;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The bytes of one backup, in pieces that are made when they are asked for: the state is a reference, so the tree may
 * move on meanwhile, and no copy of it is made. The end is a piece by itself. For one thread.
 */
public final class BackupStream {
    private enum Next {
        HEADER,
        STATE,
        NOTHING
    }

    private final BackupSummary summary;
    private final SnapshotPieces state;
    private final CRC32C checksum = new CRC32C();
    private long length;
    private Next next = Next.HEADER;

    /** A backup of the state. */
    public BackupStream(TreeState state) {
        this.summary = BackupSummary.of(state);
        this.state = new SnapshotPieces(state);
    }

    /** What is in it. */
    public BackupSummary summary() {
        return summary;
    }

    /**
     * The next piece; without any bytes behind the end.
     *
     * @throws IOException if the state in memory is damaged
     */
    public byte[] next() throws IOException {
        switch (next) {
            case HEADER -> {
                next = Next.STATE;
                return counted(BackupFormat.header(summary));
            }
            case STATE -> {
                Optional<byte[]> piece = state.next();
                if (piece.isPresent()) {
                    return counted(piece.get());
                }
                next = Next.NOTHING;
                return BackupFormat.end(checksum, length);
            }
            default -> {
                return new byte[0];
            }
        }
    }

    private byte[] counted(byte[] piece) {
        checksum.update(piece);
        length += piece.length;
        return piece;
    }
}
