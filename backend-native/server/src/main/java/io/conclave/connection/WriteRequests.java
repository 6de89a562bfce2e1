package io.conclave.connection;

import io.conclave.consensus.Rejection;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.TreeError;
import io.conclave.tree.TreeOperation;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one connection that change the tree: through the log, and back to their places in the pipeline.
 * Belongs to the connection's loop.
 */
final class WriteRequests {
    /** A shorter write may be copied before it is refused. */
    private static final int LONG_BYTES = 4 << 10;

    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private final LogOffers offers;
    private final WriteLimits limits;
    private final Audit audit;
    private final ConnectionServices services;

    WriteRequests(
            ClientConnection connection,
            RequestPipeline pipeline,
            LogOffers offers,
            WriteLimits limits,
            Audit audit,
            ConnectionServices services) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.offers = offers;
        this.limits = limits;
        this.audit = audit;
        this.services = services;
    }

    void write(int xid, RequestBody body) {
        limits.begin();
        int error = refusalOf(body);
        if (error != 0) {
            refuse(xid, body, error);
        } else {
            propose(xid, body, request(Operations.of(body)));
        }
    }

    private void refuse(int xid, RequestBody body, int error) {
        audit.failed(connection.auditedAs(), body);
        pipeline.submit(PendingAnswer.ready(() -> connection.replyError(xid, error)));
    }

    /**
     * Refuses a long create or set of data, outside a multi, for which a full state has no room, before its data is
     * copied: a client that asks for that again and again would have the garbage of a nearly full heap collected all
     * the time.
     *
     * @param in reads the write, and stays where it is
     * @return whether the write was refused
     */
    boolean refusesWithoutCopy(int xid, OpCode opCode, JuteReader in) {
        if (in.remaining() < LONG_BYTES || !hasData(opCode) || connection.isReadOnly() || !limits.isFull()) {
            return false;
        }
        JuteReader ahead = in.ahead();
        RequestBody body = RequestBody.decode(opCode, ahead);
        if (body instanceof RequestBody.Create create && !limits.isFull(create)) {
            return false; // there is room for this one, and to look at its other limits twice would count twice
        }
        limits.begin();
        int error = Operations.refusalOf(body, services.offersTtl());
        if (error == 0) {
            error = limits.refusalOf(body, ahead.skippedBytes());
        }
        if (error != 0) {
            refuse(xid, body, error);
        }
        return error != 0;
    }

    private static boolean hasData(OpCode opCode) {
        return switch (opCode) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, SET_DATA -> true;
            default -> false;
        };
    }

    private int refusalOf(RequestBody write) {
        int error = Operations.refusalOf(write, services.offersTtl());
        return error != 0 ? error : limits.refusalOf(write);
    }

    void multi(int xid, RequestBody.Multi request) {
        limits.begin();
        int parts = request.operations().size();
        for (int i = 0; i < parts; i++) {
            int part = i;
            int error = refusalOf(request.operations().get(part));
            if (error != 0) {
                audit.failed(connection.auditedAs(), request);
                pipeline.submit(
                        PendingAnswer.ready(() -> connection.reply(xid, Replies.multiFailed(parts, part, error))));
                return;
            }
        }
        propose(xid, request, request(Operations.of(request)));
    }

    private Change request(TreeOperation operation) {
        boolean enforcesQuotas = services.guard().limits().enforcesQuotas()
                && services.replicated().get().featureLevel() >= Change.QUOTA_FEATURE_LEVEL;
        return new Change.Request(
                connection.sessionId(), connection.attachment(), connection.authIds(), operation, enforcesQuotas);
    }

    void closeSession(int xid, RequestBody body) {
        limits.begin();
        propose(
                xid,
                body,
                new Change.CloseSession(connection.sessionId(), connection.attachment(), Change.CloseReason.CLIENT));
    }

    private void propose(int xid, RequestBody body, Change change) {
        Write write = new Write(xid, body, change);
        pipeline.submit(write);
        offers.propose(write);
    }

    /** A write on its way. */
    private final class Write extends ConnectionProposal implements PendingAnswer {
        private final int xid;
        private final RequestBody request;
        private final long sinceNanos = services.time().monotonicNanos();
        private final Runnable settled = limits.proposed();
        private final Audit.Client client = connection.auditedAs();
        private @Nullable ReplyHeader header;
        private ReplyBody reply = ReplyBody.Empty.INSTANCE;
        private boolean refused;

        Write(int xid, RequestBody request, Change change) {
            super(connection, change);
            this.xid = xid;
            this.request = request;
        }

        /** All requests before this write must be answered from the state before it. */
        @Override
        void beforeApplied() {
            if (!connection.isGone()) {
                pipeline.settleBefore(this);
            }
        }

        @Override
        void applied(Applied applied) {
            settled.run();
            audit.applied(client, request, applied.result());
            services.guard().quotas().applied(change(), applied.result(), loop().state(), connection);
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
            connection.statistics().written(services.time().monotonicNanos() - sinceNanos);
            if (request.opCode() == OpCode.CLOSE_SESSION && known.err() == ErrorCode.OK.code()) {
                connection.closeAfterOutput();
            }
        }
    }
}
