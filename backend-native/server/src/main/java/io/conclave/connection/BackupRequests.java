package io.conclave.connection;

import io.conclave.backup.BackupStream;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.tree.AuthId;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node {@code /zookeeper/conclave/backup}, which is not in the tree and is there for the super user alone: the
 * first read of its data on a connection begins a backup of the state that the loop has reached, and each one gives the
 * next piece of it; the piece behind the end is empty. So the client sets the pace, and writes go on. The state of the
 * backup is held until its end, or that of the connection. Belongs to the connection's loop.
 */
final class BackupRequests {
    static final String PATH = ClusterNode.PATH + "/backup";

    private static final Logger LOG = LoggerFactory.getLogger(BackupRequests.class);

    private final ClientConnection connection;
    private @Nullable BackupStream stream;

    BackupRequests(ClientConnection connection) {
        this.connection = connection;
    }

    void answer(int xid, List<AuthId> authIds) {
        if (!authIds.contains(AuthId.SUPER)) {
            connection.replyError(xid, ErrorCode.NO_AUTH.code());
            return;
        }
        try {
            byte[] piece = nextPiece();
            connection.reply(xid, new ReplyBody.GetData(piece, ClusterNode.stat(piece.length)));
        } catch (IOException e) {
            LOG.error("The backup for {} cannot go on", connection, e);
            connection.replyError(xid, ErrorCode.SYSTEM_ERROR.code());
        }
    }

    private byte[] nextPiece() throws IOException {
        BackupStream present = stream;
        if (present == null) {
            present = new BackupStream(connection.loop().state());
            LOG.info("{} takes a backup: {}", connection, present.summary());
            stream = present;
        }
        byte[] piece = present.next();
        if (piece.length == 0) {
            stream = null;
        }
        return piece;
    }
}
