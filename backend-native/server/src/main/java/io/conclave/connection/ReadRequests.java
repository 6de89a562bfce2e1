package io.conclave.connection;

import io.conclave.protocol.AddWatchRequest;
import io.conclave.protocol.CheckWatchesRequest;
import io.conclave.protocol.ClientInfo;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ExistsRequest;
import io.conclave.protocol.GetAclReply;
import io.conclave.protocol.GetAclRequest;
import io.conclave.protocol.GetAllChildrenNumberReply;
import io.conclave.protocol.GetAllChildrenNumberRequest;
import io.conclave.protocol.GetChildren2Reply;
import io.conclave.protocol.GetChildren2Request;
import io.conclave.protocol.GetChildrenReply;
import io.conclave.protocol.GetChildrenRequest;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.GetDataRequest;
import io.conclave.protocol.GetEphemeralsReply;
import io.conclave.protocol.GetEphemeralsRequest;
import io.conclave.protocol.MultiReply;
import io.conclave.protocol.MultiRequest;
import io.conclave.protocol.MultiResult;
import io.conclave.protocol.RemoveWatchesRequest;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.SetWatchesRequest;
import io.conclave.protocol.StatReply;
import io.conclave.protocol.WhoAmIReply;
import io.conclave.tree.AuthId;
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
    private final ClusterNode clusterNode;
    private final WatchRequests watches;

    ReadRequests(ClientConnection connection, ConnectionServices services) {
        this.connection = connection;
        this.clusterNode = services.clusterNode();
        this.watches = new WatchRequests(connection, services.limits().maxWatches());
    }

    /**
     * Answers a request.
     *
     * @param authIds what the connection had proved when the request came in
     */
    void answer(int xid, RequestBody request, List<AuthId> authIds) {
        ReplyBody reply;
        try {
            reply = reply(request, authIds);
        } catch (TreeException e) {
            connection.replyError(xid, e.error().code());
            return;
        } catch (WatchRequests.RefusedWatchException e) {
            connection.replyError(xid, e.error().code());
            return;
        }
        connection.reply(xid, reply);
    }

    private ReplyBody reply(RequestBody request, List<AuthId> authIds) {
        TreeState state = connection.loop().state();
        return switch (request.opCode()) {
            case EXISTS -> exists(state, (ExistsRequest) request, authIds);
            case GET_DATA -> data(state, (GetDataRequest) request, authIds);
            case GET_CHILDREN -> children(state, (GetChildrenRequest) request, authIds);
            case GET_CHILDREN2 -> children2(state, (GetChildren2Request) request, authIds);
            case GET_ACL -> acl(state, (GetAclRequest) request, authIds);
            case GET_ALL_CHILDREN_NUMBER ->
                new GetAllChildrenNumberReply(
                        TreeReads.descendantCount(state, ((GetAllChildrenNumberRequest) request).path(), authIds));
            case GET_EPHEMERALS ->
                new GetEphemeralsReply(TreeReads.ephemerals(
                        state, connection.sessionId(), ((GetEphemeralsRequest) request).prefixPath()));
            case WHO_AM_I -> whoAmI(authIds);
            case MULTI_READ -> multiRead((MultiRequest) request, authIds);
            case SET_WATCHES, SET_WATCHES2 -> watches.setAgain(state, (SetWatchesRequest) request);
            case ADD_WATCH -> watches.addPersistent((AddWatchRequest) request);
            case REMOVE_WATCHES -> watches.remove((RemoveWatchesRequest) request);
            case CHECK_WATCHES -> watches.check((CheckWatchesRequest) request);
            default -> throw new IllegalArgumentException(request.opCode() + " is not a read");
        };
    }

    /** The watch is set whether the node exists or not; one that may not be read is not watched. */
    private ReplyBody exists(TreeState state, ExistsRequest request, List<AuthId> authIds) {
        if (request.path().equals(ClusterNode.PATH)) {
            return new StatReply(clusterNode.stat(state));
        }
        boolean exists = state.znode(request.path()).isPresent();
        if (!exists && request.watch()) {
            watches.set(request.path(), WatchTable.DATA);
        }
        StatReply reply = new StatReply(Replies.stat(TreeReads.exists(state, request.path(), authIds)));
        if (request.watch()) {
            watches.set(request.path(), WatchTable.DATA);
        }
        return reply;
    }

    private ReplyBody data(TreeState state, GetDataRequest request, List<AuthId> authIds) {
        if (request.path().equals(ClusterNode.PATH)) {
            if (request.watch()) {
                watches.set(request.path(), WatchTable.DATA);
                connection.loop().goodbye().watched();
            }
            return new GetDataReply(clusterNode.data(state), clusterNode.stat(state));
        }
        TreeReads.Data data = TreeReads.data(state, request.path(), authIds);
        if (request.watch()) {
            watches.set(request.path(), WatchTable.DATA);
        }
        return new GetDataReply(data.bytes(), Replies.stat(data.stat()));
    }

    private ReplyBody children(TreeState state, GetChildrenRequest request, List<AuthId> authIds) {
        TreeReads.Children children = TreeReads.children(state, request.path(), authIds);
        if (request.watch()) {
            watches.set(request.path(), WatchTable.CHILDREN);
        }
        return new GetChildrenReply(children.names());
    }

    private ReplyBody children2(TreeState state, GetChildren2Request request, List<AuthId> authIds) {
        TreeReads.Children children = TreeReads.children(state, request.path(), authIds);
        if (request.watch()) {
            watches.set(request.path(), WatchTable.CHILDREN);
        }
        return new GetChildren2Reply(children.names(), Replies.stat(children.stat()));
    }

    private static ReplyBody acl(TreeState state, GetAclRequest request, List<AuthId> authIds) {
        TreeReads.AccessList list = TreeReads.acl(state, request.path(), authIds);
        return new GetAclReply(Replies.acl(list.acl()), Replies.stat(list.stat()));
    }

    private static ReplyBody whoAmI(List<AuthId> authIds) {
        List<ClientInfo> infos = new ArrayList<>(authIds.size());
        for (AuthId id : authIds) {
            infos.add(new ClientInfo(id.scheme(), userOf(id)));
        }
        return new WhoAmIReply(infos);
    }

    /** The name without the digest of the password. */
    private static String userOf(AuthId id) {
        int colon = id.id().indexOf(':');
        return id.scheme().equals("digest") && colon >= 0 ? id.id().substring(0, colon) : id.id();
    }

    private MultiReply multiRead(MultiRequest request, List<AuthId> authIds) {
        List<MultiResult> results = new ArrayList<>(request.operations().size());
        long bytes = 0;
        for (RequestBody part : request.operations()) {
            MultiResult result;
            try {
                result = bytes > ConnectionLimits.MAX_MULTI_READ_BYTES
                        ? MultiResult.failed(ErrorCode.MARSHALLING_ERROR.code())
                        : MultiResult.succeeded(part.opCode(), reply(part, authIds));
            } catch (TreeException e) {
                result = MultiResult.failed(e.error().code());
            }
            bytes += sizeOf(result.body());
            results.add(result);
        }
        return new MultiReply(results);
    }

    private static long sizeOf(ReplyBody body) {
        if (body instanceof GetDataReply data) {
            byte[] bytes = data.data();
            return bytes == null ? 0 : bytes.length;
        }
        if (body instanceof GetChildrenReply children) {
            return children.children().stream().mapToLong(String::length).sum();
        }
        return 0;
    }
}
