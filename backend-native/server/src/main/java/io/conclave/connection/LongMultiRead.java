package io.conclave.connection;

import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers a multiRead of very many parts, or of long lists, part by part. Belongs to the connection's loop. */
final class LongMultiRead extends LongReads.LongReadOfState {
    /** Where a name in a list of children counts 1. */
    private static final int WORK_OF_A_PART = 500;

    private final ReadRequests reads;
    private RequestBody.Multi request;
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
    void decoded(RequestBody newRequest) {
        request = (RequestBody.Multi) newRequest;
    }

    @Override
    boolean doHeldPart(LongAnswer answer) {
        MultiRead begun = read;
        if (begun == null) {
            begun = new MultiRead(reads, connection.loop().state(), request, authIds, answer::writer);
            read = begun;
        }
        try {
            return begun.advance(WORK_OF_A_PART);
        } catch (WatchRequests.RefusedWatchException e) {
            error = e.error().code();
            return true;
        }
    }

    @Override
    void reply(LongAnswer answer) {
        if (read == null || error != 0) {
            connection.replyError(xid, error);
        } else {
            MultiRead.END.encode(answer.writer());
            connection.reply(xid, ReplyBody.Empty.INSTANCE, answer);
        }
    }
}
