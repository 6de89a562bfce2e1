package io.conclave.connection;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import io.conclave.tree.ChildNames;
import io.conclave.tree.TreeException;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists the children of a node that has very many, part by part. The watch is set when the list is begun, so it misses
 * no change to that. Belongs to the connection's loop.
 */
final class ChildrenList extends LongReads.LongReadOfState {
    private static final int LONG_CHILDREN = 5_000;

    /** Of all names together. */
    static final int LONG_CHARACTERS = 1 << 20;

    private static final int NAMES_OF_A_PART = 500;

    private final WatchRequests watches;
    private final RequestBody.GetChildren request;
    private final List<AuthId> authIds;
    private @Nullable ChildNames names;
    private int error;

    ChildrenList(
            ClientConnection connection,
            LongReads reads,
            WatchRequests watches,
            int xid,
            RequestBody.GetChildren request) {
        super(connection, reads, xid);
        this.watches = watches;
        this.request = request;
        this.authIds = connection.authIds();
    }

    /** Whether a request lists more than what is done in one go. */
    static boolean isLong(TreeState state, RequestBody.GetChildren request) {
        return TreeReads.childCount(state, request.path()) > LONG_CHILDREN
                || TreeReads.hasLongNames(state, request.path(), LONG_CHARACTERS);
    }

    @Override
    boolean doHeldPart(LongAnswer answer) {
        try {
            if (names == null) {
                ChildNames begun = TreeReads.childNames(connection.loop().state(), request.path(), authIds);
                if (request.watch()) {
                    watches.set(request.path(), WatchTable.CHILDREN);
                }
                names = begun;
            }
            return names.advance(NAMES_OF_A_PART, name -> answer.writer().writeString(name));
        } catch (TreeException e) {
            error = e.error().code();
            return true;
        } catch (WatchRequests.RefusedWatchException e) {
            error = e.error().code();
            return true;
        }
    }

    @Override
    void reply(LongAnswer answer) {
        ChildNames listed = names;
        if (listed == null) {
            connection.replyError(xid, error);
            return;
        }
        if (request.opCode() == OpCode.GET_CHILDREN2) {
            Replies.stat(listed.stat()).encode(answer.writer());
        }
        connection.reply(xid, out -> out.writeInt(listed.count()), answer);
    }
}
