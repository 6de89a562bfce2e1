package io.conclave.connection;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WireRecord;
import io.conclave.tree.AuthId;
import io.conclave.tree.Caller;
import io.conclave.tree.ChildNames;
import io.conclave.tree.IdScheme;
import io.conclave.tree.TreeError;
import io.conclave.tree.TreeException;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers the requests that change nothing in the tree, from the state that the loop has reached. Belongs to the
 * connection's loop.
 */
final class ReadRequests {
    private final ClientConnection connection;
    private final WatchRequests watches;
    private final BackupRequests backups;
    private final long mostUnreadBytes;

    ReadRequests(ClientConnection connection, ConnectionServices services) {
        this.connection = connection;
        this.watches = new WatchRequests(connection);
        this.backups = new BackupRequests(connection);
        this.mostUnreadBytes = services.guard().limits().most(ClientLimit.UNREAD_BYTES_OF_CONNECTION);
    }

    /** With more the connection would be closed. */
    long mostUnreadBytes() {
        return mostUnreadBytes;
    }

    WatchRequests watches() {
        return watches;
    }

    /**
     * Answers a request.
     *
     * @param authIds what the connection had proved when the request came in
     */
    void answer(int xid, RequestBody request, List<AuthId> authIds) {
        if (request instanceof RequestBody.GetData get && get.path().equals(BackupRequests.PATH)) {
            backups.answer(xid, authIds);
            return;
        }
        WireRecord reply;
        try {
            reply = reply(connection.loop().state(), request, authIds);
        } catch (TreeException e) {
            connection.replyError(xid, e.error().code());
            return;
        } catch (WatchRequests.RefusedWatchException e) {
            connection.replyError(xid, e.error().code());
            return;
        }
        connection.reply(xid, reply);
    }

    private WireRecord reply(TreeState state, RequestBody request, List<AuthId> authIds) {
        return switch (request.opCode()) {
            case EXISTS -> exists(state, (RequestBody.Exists) request, authIds);
            case GET_DATA -> data(state, (RequestBody.GetData) request, new Caller(authIds));
            case GET_CHILDREN, GET_CHILDREN2 -> children(state, (RequestBody.GetChildren) request, authIds);
            case GET_ACL -> acl(state, (RequestBody.GetAcl) request, authIds);
            case GET_EPHEMERALS ->
                new ReplyBody.GetEphemerals(TreeReads.ephemerals(
                        state, connection.sessionId(), ((RequestBody.GetEphemerals) request).prefixPath()));
            case WHO_AM_I -> whoAmI(authIds);
            case MULTI_READ -> MultiRead.all(this, state, (RequestBody.Multi) request, authIds);
            case ADD_WATCH -> watches.addPersistent((WatchRequest.AddWatch) request);
            case REMOVE_WATCHES -> watches.remove((WatchRequest.RemoveWatches) request);
            case CHECK_WATCHES -> watches.check((WatchRequest.CheckWatches) request);
            default -> throw new IllegalArgumentException(request.opCode() + " is not a read");
        };
    }

    /** The watch is set whether the node exists or not; one that may not be read is not watched. */
    private ReplyBody exists(TreeState state, RequestBody.Exists request, List<AuthId> authIds) {
        try {
            ReplyBody.Stat reply = new ReplyBody.Stat(
                    request.path().equals(ClusterNode.PATH)
                            ? ClusterNode.stat(state)
                            : Replies.stat(TreeReads.exists(state, request.path(), authIds)));
            watchIfAsked(request);
            return reply;
        } catch (TreeException e) {
            if (e.error() == TreeError.NO_NODE) {
                watchIfAsked(request);
            }
            throw e;
        }
    }

    private void watchIfAsked(RequestBody.Exists request) {
        if (request.watch()) {
            watches.set(request.path(), WatchTable.DATA);
        }
    }

    /** The members are those of now, whatever state is read: their watch knows no other. */
    ReplyBody.GetData data(TreeState state, RequestBody.GetData request, Caller caller) {
        if (request.path().equals(ClusterNode.PATH)) {
            if (request.watch()) {
                watches.set(request.path(), WatchTable.DATA);
            }
            TreeState now = connection.loop().state();
            return new ReplyBody.GetData(ClusterNode.data(now), ClusterNode.stat(now));
        }
        TreeReads.Data data = TreeReads.data(state, request.path(), caller);
        if (request.watch()) {
            watches.setSince(state, request.path(), WatchTable.DATA);
        }
        return new ReplyBody.GetData(data.bytes(), Replies.stat(data.stat()));
    }

    /** The children of a node, to be listed step by step. The watch is set at once, so it misses nothing. */
    ChildNames names(TreeState state, RequestBody.GetChildren request, Caller caller) {
        ChildNames names = TreeReads.childNames(state, request.path(), caller);
        if (request.watch()) {
            watches.setSince(state, request.path(), WatchTable.CHILDREN);
        }
        return names;
    }

    private ReplyBody children(TreeState state, RequestBody.GetChildren request, List<AuthId> authIds) {
        TreeReads.Children children = TreeReads.children(state, request.path(), authIds);
        if (request.watch()) {
            watches.set(request.path(), WatchTable.CHILDREN);
        }
        return request.opCode() == OpCode.GET_CHILDREN2
                ? new ReplyBody.GetChildren2(children.names(), Replies.stat(children.stat()))
                : new ReplyBody.GetChildren(children.names());
    }

    private static ReplyBody acl(TreeState state, RequestBody.GetAcl request, List<AuthId> authIds) {
        TreeReads.AccessList list = TreeReads.acl(state, request.path(), authIds);
        return new ReplyBody.GetAcl(Replies.acl(list.acl()), Replies.stat(list.stat()));
    }

    private static ReplyBody whoAmI(List<AuthId> authIds) {
        List<ReplyBody.ClientInfo> infos = new ArrayList<>(authIds.size());
        for (AuthId id : authIds) {
            infos.add(new ReplyBody.ClientInfo(id.scheme(), userOf(id)));
        }
        return new ReplyBody.WhoAmI(infos);
    }

    /** The name without the digest of the password. */
    private static String userOf(AuthId id) {
        return IdScheme.of(id.scheme()).map(scheme -> scheme.user(id.id())).orElse(id.id());
    }
}
