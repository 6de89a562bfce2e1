package io.conclave.connection;

import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import io.conclave.tree.DescendantCount;
import io.conclave.tree.TreeException;
import io.conclave.tree.TreeReads;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the nodes below a node, part by part. Belongs to the connection's loop. */
final class SubtreeCount extends LongReads.LongReadOfState {
    private static final int NODES_OF_A_PART = 1_000;

    private final RequestBody.GetAllChildrenNumber request;
    private final List<AuthId> authIds;
    private @Nullable DescendantCount descendants;
    private int error;

    SubtreeCount(ClientConnection connection, LongReads reads, int xid, RequestBody.GetAllChildrenNumber request) {
        super(connection, reads, xid);
        this.request = request;
        this.authIds = connection.authIds();
    }

    @Override
    boolean doHeldPart(LongAnswer answer) {
        try {
            if (descendants == null) {
                descendants = TreeReads.descendants(connection.loop().state(), request.path(), authIds);
            }
            return descendants.advance(NODES_OF_A_PART);
        } catch (TreeException e) {
            error = e.error().code();
            return true;
        }
    }

    @Override
    void reply(LongAnswer answer) {
        if (descendants == null) {
            connection.replyError(xid, error);
        } else {
            connection.reply(xid, new ReplyBody.GetAllChildrenNumber(descendants.count()));
        }
    }
}
