package io.conclave.connection;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.NoLiveMajorityException;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.replica.MembershipWords;
import io.conclave.tree.AuthId;
import io.conclave.tree.TreeReads;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ZooKeeper's reconfig, for an operator: members join, leave, or get another address or role, one after the other. The
 * answer is the data of {@code /zookeeper/config} when the last change is committed. Belongs to the connection's loop.
 */
final class ReconfigRequests {
    private static final Logger LOG = LoggerFactory.getLogger(ReconfigRequests.class);
    static final String CONFIG = "/zookeeper/config";
    private static final long ANY_VERSION = -1;

    private final ClientConnection connection;
    private final RequestPipeline pipeline;
    private final LogOffers offers;
    private final MembershipService membership;
    private final Audit audit;

    ReconfigRequests(
            ClientConnection connection,
            RequestPipeline pipeline,
            LogOffers offers,
            MembershipService membership,
            Audit audit) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.offers = offers;
        this.membership = membership;
        this.audit = audit;
    }

    void handle(int xid, RequestBody.Reconfig request) {
        Reconfig reconfig = new Reconfig(xid);
        pipeline.submit(reconfig);
        if (!connection.authIds().contains(AuthId.SUPER)) {
            reconfig.settle(ErrorCode.NO_AUTH);
            return;
        }
        try {
            List<MembershipChange> changes = changesOf(request);
            LOG.info("{} asks to change the members: {}", connection, MembershipWords.describe(changes));
            reconfig.run(changes, request.currentConfigId());
        } catch (IllegalArgumentException e) {
            LOG.warn("Refused to change the members: {}", e.getMessage());
            reconfig.settle(ErrorCode.BAD_ARGUMENTS);
        }
    }

    private static List<MembershipChange> changesOf(RequestBody.Reconfig request) {
        if (request.newMembers() != null && !request.newMembers().isEmpty()) {
            throw new IllegalArgumentException("only single members can be added and removed, not all replaced");
        }
        return MembershipWords.parse(request.joiningServers(), request.leavingServers());
    }

    /** Changes on their way, one at a time. */
    private final class Reconfig implements PendingAnswer {
        private final int xid;
        private final Audit.Client client = connection.auditedAs();
        private @Nullable ErrorCode outcome;

        Reconfig(int xid) {
            this.xid = xid;
        }

        /** The version is looked at before the change, not with it: a change that is made meanwhile is not noticed. */
        void run(List<MembershipChange> changes, long expectedVersion) {
            if (expectedVersion == ANY_VERSION) {
                change(changes);
                return;
            }
            offers.readBarrier(() -> {
                if (shown().stat().mzxid() == expectedVersion) {
                    change(changes);
                } else {
                    settle(ErrorCode.BAD_VERSION);
                }
            });
        }

        private void change(List<MembershipChange> changes) {
            membership.change(changes, new MembershipService.Asker() {
                @Override
                public void made() {
                    connection.loop().postBehindSteps(() -> {
                        settle(ErrorCode.OK);
                        connection.flushOutput(); // it may be closed next, if this server was removed
                    });
                }

                @Override
                public void failed(Throwable cause) {
                    connection.loop().post(() -> Reconfig.this.failed(changes, cause));
                }
            });
        }

        /** An error code would say that nothing was changed: when that is not known, the connection ends instead. */
        private void failed(List<MembershipChange> changes, Throwable cause) {
            String asked = MembershipWords.describe(changes);
            if (cause instanceof ChangeOutcomeUnknownException) {
                LOG.warn("It is not known whether the members were changed ({}): {}", asked, cause.getMessage());
                connection.close("the outcome of a change of the members is unknown");
                return;
            }
            if (cause instanceof LogException) {
                LOG.warn("The members were not changed ({}): {}", asked, cause.getMessage());
            } else {
                LOG.error("The members were not changed ({})", asked, cause);
            }
            settle(errorOf(cause));
        }

        private static ErrorCode errorOf(Throwable cause) {
            if (cause instanceof NoLiveMajorityException) {
                return ErrorCode.NEW_CONFIG_NO_QUORUM;
            }
            if (cause instanceof ImpossibleChangeException) {
                return ErrorCode.BAD_ARGUMENTS;
            }
            return cause instanceof LogException ? ErrorCode.RECONFIG_IN_PROGRESS : ErrorCode.SYSTEM_ERROR;
        }

        private TreeReads.Data shown() {
            return TreeReads.data(connection.loop().state(), CONFIG, connection.authIds());
        }

        void settle(ErrorCode error) {
            outcome = error;
            audit.reconfigured(client, error == ErrorCode.OK);
            connection.resume();
        }

        @Override
        public boolean isReady() {
            return outcome != null;
        }

        @Override
        public boolean holdsNext() {
            return true;
        }

        @Override
        public void answer() {
            ErrorCode known = outcome == null ? ErrorCode.SYSTEM_ERROR : outcome;
            if (known != ErrorCode.OK) {
                connection.replyError(xid, known.code());
                return;
            }
            TreeReads.Data data = shown();
            connection.reply(xid, new ReplyBody.GetData(data.bytes(), Replies.stat(data.stat())));
        }
    }
}
