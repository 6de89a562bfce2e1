package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.TreeError;
import org.jspecify.annotations.Nullable;

/** A write on its way through the log and back to its place in the pipeline. Belongs to the connection's loop. */
final class Write extends ConnectionProposal implements PendingAnswer {
    private final ClientConnection connection;
    private final int xid;
    private final RequestBody request;
    private final long sinceNanos;
    private final QuotaMeter quotas;
    private final Runnable settled;
    private final Audit audit;
    private final Audit.Client client;
    private @Nullable ReplyHeader header;
    private ReplyBody reply = ReplyBody.Empty.INSTANCE;
    private boolean refused;

    /**
     * A write that is about to be proposed.
     *
     * @param settled to be run when the outcome is known
     */
    Write(
            ClientConnection connection,
            int xid,
            RequestBody request,
            Change change,
            long sinceNanos,
            QuotaMeter quotas,
            Runnable settled,
            Audit audit) {
        super(connection, change);
        this.connection = connection;
        this.xid = xid;
        this.request = request;
        this.sinceNanos = sinceNanos;
        this.quotas = quotas;
        this.settled = settled;
        this.audit = audit;
        this.client = connection.auditedAs();
    }

    /** All requests before this write must be answered from the state before it. */
    @Override
    void beforeApplied() {
        if (!connection.isGone()) {
            connection.settleBefore(this);
        }
    }

    @Override
    void applied(Applied applied) {
        settled.run();
        audit.applied(client, request, applied.result());
        quotas.applied(change(), applied.result(), loop().state(), connection);
        if (connection.isGone()) {
            return;
        }
        if (applied.result() instanceof Result.Failed failed) {
            if (failed.error() == TreeError.SESSION_MOVED || failed.error() == TreeError.SESSION_EXPIRED) {
                connection.close("its session is not here any more: " + failed.error());
                return;
            }
            header = new ReplyHeader(xid, applied.zxid(), failed.error().code());
        } else {
            header = new ReplyHeader(xid, applied.zxid(), ErrorCode.OK.code());
            reply = Replies.of(request, applied.result());
        }
        connection.resume();
    }

    @Override
    void refused(Rejection reason) {
        settled.run();
        audit.failed(client, request);
        if (connection.isGone()) {
            return;
        }
        if (reason != Rejection.DISK_FULL) {
            connection.close("the log takes no more: " + reason);
            return;
        }
        refused = true;
        connection.resume();
    }

    @Override
    public boolean isReady() {
        return refused || header != null;
    }

    @Override
    public void answer() {
        if (refused) {
            // with what is shown by now, which may be newer than it was when this was refused
            connection.replyError(xid, ErrorCode.NOT_READ_ONLY.code());
            return;
        }
        ReplyHeader known = header;
        if (known == null) {
            throw new IllegalStateException("the outcome of request " + xid + " is not known");
        }
        connection.write(known, reply);
        connection.written(sinceNanos);
        if (request.opCode() == OpCode.CLOSE_SESSION && known.err() == ErrorCode.OK.code()) {
            connection.closeAfterOutput();
        }
    }
}
