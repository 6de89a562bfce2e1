package io.conclave.connection;

import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers a multiRead of very many parts, or of long lists, part by part. Belongs to the connection's loop. */
final class LongMultiRead extends LongReads.LongReadOfState {
    private final ReadRequests reads;
    private final RequestBody.Multi request;
    private final List<AuthId> authIds;
    private @Nullable MultiRead read;
    private int error;

    LongMultiRead(
            ClientConnection connection, LongReads longReads, ReadRequests reads, int xid, RequestBody.Multi request) {
        super(connection, longReads, xid);
        this.reads = reads;
        this.request = request;
        this.authIds = connection.authIds();
    }

    @Override
    boolean advanceHeld() {
        MultiRead begun = read;
        if (begun == null) {
            begun = new MultiRead(reads, connection.loop().state(), request, authIds);
            read = begun;
        }
        try {
            return begun.advance(MultiRead.WORK_OF_A_TURN);
        } catch (WatchRequests.RefusedWatchException e) {
            error = e.error().code();
            return true;
        }
    }

    @Override
    void reply() {
        if (read == null || error != 0) {
            connection.replyError(xid, error);
        } else {
            connection.reply(xid, read.body());
        }
    }
}
