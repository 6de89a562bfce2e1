package io.conclave.connection;

import io.conclave.protocol.JuteWriter;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.EphemeralPaths;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Lists the ephemeral nodes of a session that has very many, part by part, and in no order, as ZooKeeper does. Belongs
 * to the connection's loop.
 */
final class EphemeralsList extends LongReads.LongReadOfState {
    static final int PATHS_OF_A_TURN = 5_000;

    private final RequestBody.GetEphemerals request;
    private final ByteBuf encoded = Unpooled.buffer();
    private final JuteWriter writer = new JuteWriter(encoded);
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
                > PATHS_OF_A_TURN;
    }

    @Override
    boolean advanceHeld() {
        if (paths == null) {
            paths = TreeReads.ephemeralPaths(connection.loop().state(), connection.sessionId(), request.prefixPath());
        }
        return paths.advance(PATHS_OF_A_TURN, path -> {
            writer.writeString(path);
            count++;
        });
    }

    @Override
    void reply() {
        connection.reply(xid, out -> {
            out.writeInt(count);
            out.writeEncoded(encoded);
        });
    }
}
