package io.conclave.connection;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.PathTooLongException;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.RequestHeader;
import io.conclave.protocol.WatchRequest;
import io.conclave.tree.AuthId;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends each request of an attached connection its way. Belongs to the connection's loop. */
final class RequestDispatch {
    private static final Logger LOG = LoggerFactory.getLogger(RequestDispatch.class);

    /** Of a list of watches. */
    private static final int PATHS_OF_A_PART = 200;

    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private final LogOffers offers;
    private final Pings pings;
    private final ReadRequests reads;
    private final ConnectionServices services;
    private final ReconfigRequests reconfigs;
    private final WriteRequests writes;
    private final Authenticator authenticator;
    private final SaslRequests sasl;
    private final int maxPathBytes;
    private final LongReads longReads;

    RequestDispatch(
            ClientConnection connection,
            RequestPipeline pipeline,
            LogOffers offers,
            Pings pings,
            ConnectionServices services) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.offers = offers;
        this.pings = pings;
        this.services = services;
        Audit audit = new Audit(services.security().audit());
        WriteLimits limits = new WriteLimits(connection, services);
        this.reads = new ReadRequests(connection, services);
        this.longReads = new LongReads(connection, pipeline);
        this.writes = new WriteRequests(connection, pipeline, offers, limits, audit, services);
        this.authenticator = new Authenticator(
                connection, services.security(), limits, services.guard().credentials());
        this.sasl = new SaslRequests(connection, pipeline, services.security(), services.guard(), authenticator);
        this.maxPathBytes =
                (int) Math.min(Integer.MAX_VALUE, services.guard().limits().most(ClientLimit.PATH_BYTES));
        this.reconfigs = new ReconfigRequests(connection, pipeline, offers, services.membership(), audit);
    }

    void handle(ByteBuf frame) {
        if (!connection.touchLease()) {
            connection.close("its session is about to expire");
            return;
        }
        JuteReader in = new JuteReader(frame, maxPathBytes);
        RequestHeader header = RequestHeader.decode(in);
        Optional<OpCode> opCode = header.opCode().filter(RequestDispatch::isFromClients);
        if (opCode.isEmpty()) {
            submitLastError(header.xid(), ErrorCode.UNIMPLEMENTED);
            return;
        }
        connection.statistics().requested(opCode.get(), header.xid());
        if (opCode.get() != OpCode.AUTH
                && opCode.get() != OpCode.SASL
                && !services.security().admits(connection.authIds())) {
            submitLast(() -> connection.replyOutsideState(header.xid(), ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH));
            return;
        }
        try {
            if (LargeBody.isLarge(opCode.get(), frame)) {
                large(header.xid(), opCode.get(), new LargeBody(opCode.get(), frame, in));
            } else if (!writes.refusesWithoutCopy(header.xid(), opCode.get(), in)) {
                dispatch(header.xid(), RequestBody.decode(opCode.get(), in));
            }
        } catch (MalformedFrameException | PathTooLongException e) {
            refuse(header.xid(), opCode.get(), e);
        }
    }

    /** Decodes the request in its turn, and answers it. */
    private void large(int xid, OpCode opCode, LargeBody body) {
        LongReads.LongRead read = opCode == OpCode.MULTI_READ
                ? new LongMultiRead(connection, longReads, reads, xid, new RequestBody.Multi(opCode, List.of()))
                : new SetWatches(xid, null);
        read.decodeFirst(body, malformed -> refuse(xid, opCode, malformed));
        pipeline.submit(read);
    }

    /** It cannot be decoded. */
    private void refuse(int xid, OpCode opCode, RuntimeException malformed) {
        if (malformed instanceof PathTooLongException path) {
            refusePath(xid, opCode, path);
        } else {
            LOG.debug("Request {} of {} cannot be decoded: {}", xid, connection, malformed.getMessage());
            submitError(xid, ErrorCode.MARSHALLING_ERROR);
        }
    }

    /** Clients do not look at the answer of what sets their watches again. */
    private void refusePath(int xid, OpCode opCode, PathTooLongException refusal) {
        services.guard()
                .refused(
                        ClientLimit.PATH_BYTES,
                        "a request of " + connection + ": its path has " + refusal.bytes() + " bytes");
        if (opCode == OpCode.SET_WATCHES || opCode == OpCode.SET_WATCHES2) {
            connection.close("a path is too long");
        } else {
            submitError(xid, ErrorCode.BAD_ARGUMENTS);
        }
    }

    private static boolean isFromClients(OpCode opCode) {
        return switch (opCode) {
            case ERROR, CREATE_SESSION, DELETE_CONTAINER, CHECK -> false;
            default -> true;
        };
    }

    private void dispatch(int xid, RequestBody body) {
        if (connection.isReadOnly() && !Operations.isForReadOnly(body.opCode())) {
            submitError(xid, ErrorCode.NOT_READ_ONLY);
            return;
        }
        if (body instanceof RequestBody.GetData get && get.path().equals(RaiseLevelRequest.PATH)) {
            RaiseLevelRequest raise = new RaiseLevelRequest(connection, xid);
            raise.begin(services.levels());
            pipeline.submit(raise);
            return;
        }
        switch (body.opCode()) {
            case PING -> pings.ping();
            case AUTH -> authenticator.authenticate(xid, (ConnectionRequest.Auth) body);
            case GET_ALL_CHILDREN_NUMBER ->
                pipeline.submit(new SubtreeCount(connection, longReads, xid, (RequestBody.GetAllChildrenNumber) body));
            case GET_CHILDREN, GET_CHILDREN2 -> children(xid, (RequestBody.GetChildren) body);
            case MULTI_READ -> multiRead(xid, (RequestBody.Multi) body);
            case GET_EPHEMERALS -> ephemerals(xid, (RequestBody.GetEphemerals) body);
            case SET_WATCHES, SET_WATCHES2 -> setWatches(xid, (WatchRequest.SetWatches) body);
            case SASL -> sasl.handle(xid, (ConnectionRequest.Sasl) body);
            case SYNC -> sync(xid, (RequestBody.Sync) body);
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, SET_ACL -> writes.write(xid, body);
            case MULTI -> writes.multi(xid, (RequestBody.Multi) body);
            case CLOSE_SESSION -> closeSession(xid, body);
            case RECONFIG -> reconfigs.handle(xid, (RequestBody.Reconfig) body);
            default -> pipeline.submit(ready(xid, body));
        }
    }

    /**
     * Whether a request is done part by part, or SASL is at work: until that is over, nothing else is read from the
     * connection.
     */
    boolean holdsAll() {
        return longReads.isUnderWay() || sasl.isBusy();
    }

    /** The connection has ended: no request is answered. */
    void end() {
        longReads.abandon();
    }

    private void closeSession(int xid, RequestBody body) {
        if (connection.isReadOnly()) {
            submitLastError(xid, ErrorCode.OK);
            return;
        }
        writes.closeSession(xid, body);
    }

    /** Answers with what the connection has proved by now. */
    private PendingAnswer ready(int xid, RequestBody body) {
        List<AuthId> authIds = connection.authIds();
        return PendingAnswer.ready(() -> reads.answer(xid, body, authIds));
    }

    private void submitError(int xid, ErrorCode error) {
        pipeline.submit(PendingAnswer.ready(() -> connection.replyError(xid, error.code())));
    }

    /** An error, or its absence, behind which the connection is closed. */
    private void submitLastError(int xid, ErrorCode error) {
        submitLast(() -> connection.replyError(xid, error.code()));
    }

    private void submitLast(Runnable answer) {
        pipeline.submit(PendingAnswer.ready(() -> {
            answer.run();
            connection.closeAfterOutput();
        }));
    }

    /** A node that has few children now may have many in its turn; that is as long as one list takes to become long. */
    private void children(int xid, RequestBody.GetChildren body) {
        pipeline.submit(
                ChildrenList.isLong(connection.loop().state(), body)
                        ? new ChildrenList(connection, longReads, reads.watches(), xid, body)
                        : ready(xid, body));
    }

    private void multiRead(int xid, RequestBody.Multi body) {
        pipeline.submit(
                MultiRead.isLong(connection.loop().state(), body)
                        ? new LongMultiRead(connection, longReads, reads, xid, body)
                        : ready(xid, body));
    }

    private void ephemerals(int xid, RequestBody.GetEphemerals body) {
        pipeline.submit(
                EphemeralsList.isLong(connection.loop().state(), connection.sessionId())
                        ? new EphemeralsList(connection, longReads, xid, body)
                        : ready(xid, body));
    }

    /** A short list is set at once: a client that comes again is not to wait for the long reads of others. */
    private void setWatches(int xid, WatchRequest.SetWatches request) {
        WatchRequests.OldWatches old = new WatchRequests.OldWatches(request);
        pipeline.submit(
                old.paths() > PATHS_OF_A_PART
                        ? new SetWatches(xid, old)
                        : PendingAnswer.ready(() -> {
                            reads.watches().setAgain(old, Integer.MAX_VALUE);
                            connection.reply(xid, ReplyBody.Empty.INSTANCE);
                        }));
    }

    private void sync(int xid, RequestBody.Sync request) {
        Sync sync = new Sync(xid, request.path());
        pipeline.submit(sync);
        offers.readBarrier(sync::reached);
    }

    /** Waits until this loop has walked through all that was committed when the sync came in. */
    private final class Sync implements PendingAnswer {
        private final int xid;
        private final String path;
        private boolean reached;

        Sync(int xid, String path) {
            this.xid = xid;
            this.path = path;
        }

        void reached() {
            reached = true;
            connection.resume();
        }

        @Override
        public void settle() {
            reached = true;
        }

        @Override
        public boolean isReady() {
            return reached;
        }

        @Override
        public void answer() {
            connection.reply(xid, new ReplyBody.Sync(path));
        }
    }

    /** Sets the watches of a client that comes again. */
    private final class SetWatches extends LongReads.LongRead {
        private WatchRequests.@Nullable OldWatches old;

        /** @param newOld null if it is to be decoded first */
        SetWatches(int xid, WatchRequests.@Nullable OldWatches newOld) {
            super(longReads, xid);
            old = newOld;
        }

        @Override
        void decoded(RequestBody request) {
            old = new WatchRequests.OldWatches((WatchRequest.SetWatches) request);
        }

        @Override
        boolean doPart() {
            return old == null || reads.watches().setAgain(old, PATHS_OF_A_PART);
        }

        @Override
        void finish() {
            connection.reply(xid, ReplyBody.Empty.INSTANCE);
        }
    }
}
