package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.tree.AuthId;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read of {@code /zookeeper/conclave/raise-level}. The path is not in the tree, and only the super user may read it.
 * The read raises the feature level to the highest one that all members support; its data are a sentence that says
 * whether the level was raised, or why not. Belongs to the connection's event loop.
 */
final class RaiseLevelRequest implements PendingAnswer {
    static final String PATH = ClusterNode.PATH + "/raise-level";

    private static final Logger LOG = LoggerFactory.getLogger(RaiseLevelRequest.class);

    private final ClientConnection connection;
    private final int xid;
    private final boolean allowed;
    private @Nullable String outcome;

    RaiseLevelRequest(ClientConnection connection, int xid) {
        this.connection = connection;
        this.xid = xid;
        this.allowed = connection.authIds().contains(AuthId.SUPER);
    }

    void begin(FeatureLevelService levels) {
        if (allowed) {
            LOG.info("{} asks to raise the feature level", connection);
            levels.raise().whenComplete((answer, failure) -> connection.loop().post(() -> {
                outcome = failure == null ? answer : FeatureLevelService.NOT_RAISED + failure;
                connection.resume();
            }));
        }
    }

    @Override
    public boolean isReady() {
        return !allowed || outcome != null;
    }

    @Override
    public boolean holdsNext() {
        return true;
    }

    @Override
    public void answer() {
        if (outcome == null) {
            connection.replyError(xid, ErrorCode.NO_AUTH.code());
            return;
        }
        byte[] text = outcome.getBytes(StandardCharsets.UTF_8);
        connection.reply(xid, new ReplyBody.GetData(text, ClusterNode.stat(text.length)));
    }
}
