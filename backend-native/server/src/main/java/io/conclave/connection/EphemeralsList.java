package io.conclave.connection;

import io.conclave.protocol.RequestBody;
import io.conclave.tree.EphemeralPaths;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import org.jspecify.annotations.Nullable;

/**
 * Lists the ephemeral nodes of a session that has very many, part by part, and in no order, as ZooKeeper does. Belongs
 * to the connection's loop.
 */
final class EphemeralsList extends LongReads.LongReadOfState {
    private static final int LONG_EPHEMERALS = 5_000;

    private static final int PATHS_OF_A_PART = 500;

    private final RequestBody.GetEphemerals request;
    private @Nullable EphemeralPaths paths;
    private int count;

    EphemeralsList(ClientConnection connection, LongReads reads, int xid, RequestBody.GetEphemerals request) {
        super(connection, reads, xid);
        this.request = request;
    }

    /** Whether a session has more than what is listed in one go. */
    static boolean isLong(TreeState state, long sessionId) {
        return state.session(sessionId)
                                .map(SessionRecord::ephemerals)
                                .map(all -> all.size())
                                .orElse(0)
                        > LONG_EPHEMERALS
                || TreeReads.hasLongEphemerals(state, sessionId, ChildrenList.LONG_CHARACTERS);
    }

    @Override
    boolean doHeldPart(LongAnswer answer) {
        if (paths == null) {
            paths = TreeReads.ephemeralPaths(connection.loop().state(), connection.sessionId(), request.prefixPath());
        }
        return paths.advance(PATHS_OF_A_PART, path -> {
            answer.writer().writeString(path);
            count++;
        });
    }

    @Override
    void reply(LongAnswer answer) {
        connection.reply(xid, out -> out.writeInt(count), answer);
    }
}
