package io.conclave.connection;

import io.conclave.consensus.LogException;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.ReconfigRequest;
import io.conclave.replica.MemberLine;
import io.conclave.tree.AuthId;
import io.conclave.tree.TreeReads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ZooKeeper's reconfig, for an operator: members join, leave, or get another address or role, one after the other. The
 * answer is the data of {@code /zookeeper/config} when the last change is committed. Belongs to the connection's loop.
 */
final class ReconfigRequests {
    private static final Logger LOG = LoggerFactory.getLogger(ReconfigRequests.class);
    private static final String CONFIG = "/zookeeper/config";

    private final ClientConnection connection;
    private final RequestPipeline pipeline;

    ReconfigRequests(ClientConnection connection, RequestPipeline pipeline) {
        this.connection = connection;
        this.pipeline = pipeline;
    }

    void handle(int xid, ReconfigRequest request) {
        Reconfig reconfig = new Reconfig(xid);
        pipeline.submit(reconfig);
        if (!connection.authIds().contains(AuthId.SUPER)) {
            reconfig.fail(ErrorCode.RECONFIG_DISABLED);
            return;
        }
        try {
            LOG.info("{} asks to change the members: {}", connection, request);
            reconfig.run(changesOf(request));
        } catch (IllegalArgumentException e) {
            LOG.warn("Refused to change the members: {}", e.getMessage());
            reconfig.fail(ErrorCode.BAD_ARGUMENTS);
        }
    }

    /** Who joins comes before who leaves, so that there are always enough. */
    private List<MembershipChange> changesOf(ReconfigRequest request) {
        if (request.newMembers() != null && !request.newMembers().isEmpty()) {
            throw new IllegalArgumentException("only single members can be added and removed, not all replaced");
        }
        List<MembershipChange> changes = new ArrayList<>();
        for (String line : items(request.joiningServers())) {
            int equals = line.indexOf('=');
            if (equals < 0 || !line.startsWith("server.")) {
                throw new IllegalArgumentException("\"" + line + "\" is not of the form server.N=host:peerPort...");
            }
            int id = id(line.substring("server.".length(), equals));
            changes.add(new MembershipChange.Put(
                    MemberLine.parse(id, line.substring(equals + 1)).member()));
        }
        ClusterConfiguration present = connection.loop().log().status().configuration();
        for (String item : items(request.leavingServers())) {
            int id = id(item.startsWith("server.") ? item.substring("server.".length()) : item);
            if (!present.members().containsKey(id)) {
                throw new IllegalArgumentException("there is no server " + id + ", only "
                        + present.members().keySet());
            }
            changes.add(new MembershipChange.Remove(id));
        }
        if (changes.isEmpty()) {
            throw new IllegalArgumentException("nobody joins and nobody leaves");
        }
        return changes;
    }

    private static List<String> items(@Nullable String list) {
        List<String> items = new ArrayList<>();
        for (String item : list == null ? new String[0] : list.split("[,\n]")) {
            if (!item.isBlank()) {
                items.add(item.strip());
            }
        }
        return items;
    }

    private static int id(String text) {
        try {
            int id = Integer.parseInt(text.strip());
            if (id >= 1 && id <= MemberLine.MAX_ID) {
                return id;
            }
        } catch (NumberFormatException e) {
            // said below like any other bad value
        }
        throw new IllegalArgumentException("\"" + text + "\" is not a server's number from 1 to " + MemberLine.MAX_ID);
    }

    /** Changes on their way, one at a time. */
    private final class Reconfig implements Pending {
        private final int xid;
        private @Nullable ErrorCode outcome;

        Reconfig(int xid) {
            this.xid = xid;
        }

        void run(List<MembershipChange> changes) {
            if (changes.isEmpty()) {
                connection.loop().log().readBarrier(() -> connection.loop().postBehindSteps(() -> fail(ErrorCode.OK)));
                return;
            }
            CompletionStage<@Nullable Void> change = connection.loop().log().change(changes.get(0));
            change.whenComplete((done, failure) -> connection.loop().post(() -> {
                if (failure == null) {
                    run(changes.subList(1, changes.size()));
                } else {
                    LOG.warn("The members could not be changed by {}", changes.get(0), failure);
                    fail(failure instanceof LogException ? ErrorCode.RECONFIG_IN_PROGRESS : ErrorCode.SYSTEM_ERROR);
                }
            }));
        }

        void fail(ErrorCode error) {
            outcome = error;
            connection.resume();
        }

        @Override
        public boolean isReady() {
            return outcome != null;
        }

        @Override
        public void answer() {
            ErrorCode known = outcome == null ? ErrorCode.SYSTEM_ERROR : outcome;
            if (known != ErrorCode.OK) {
                connection.replyError(xid, known.code());
                return;
            }
            TreeReads.Data data = TreeReads.data(connection.loop().state(), CONFIG, connection.authIds());
            connection.reply(xid, new GetDataReply(data.bytes(), Replies.stat(data.stat())));
        }
    }
}
