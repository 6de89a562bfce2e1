package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.WatchMode;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherType;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeState;
import io.conclave.tree.Znode;
import io.conclave.tree.ZnodeAcl;
import java.util.Optional;

/** The requests of one connection that set, ask for and remove watches. Belongs to the connection's loop. */
final class WatchRequests {
    /** What ZooKeeper puts into events that no single change caused. */
    static final long NO_ZXID = -1;

    private final ClientConnection connection;

    WatchRequests(ClientConnection connection) {
        this.connection = connection;
    }

    /** A request about watches is refused; carries no stack trace, for it is an answer. */
    static final class RefusedWatchException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final ErrorCode error;

        RefusedWatchException(ErrorCode error) {
            super(error.name(), null, false, false);
            this.error = error;
        }

        ErrorCode error() {
            return error;
        }
    }

    void set(String path, int kind) {
        WatchTable table = connection.loop().watches();
        if (!table.contains(path, connection, WatchTable.ANY)
                && !connection.watched().admits(path, connection)) {
            throw new RefusedWatchException(ErrorCode.THROTTLED);
        }
        table.add(path, connection, kind);
    }

    ReplyBody addPersistent(WatchRequest.AddWatch request) {
        // ZooKeeper's answer to a mode that it does not know, and to a type
        WatchMode mode = WatchMode.lookup(request.mode())
                .orElseThrow(() -> new RefusedWatchException(ErrorCode.MARSHALLING_ERROR));
        set(request.path(), mode == WatchMode.PERSISTENT ? WatchTable.PERSISTENT : WatchTable.RECURSIVE);
        return new ReplyBody.Err(ErrorCode.OK.code());
    }

    ReplyBody remove(WatchRequest.RemoveWatches request) {
        if (!connection.loop().watches().remove(request.path(), connection, kinds(request.type()))) {
            throw new RefusedWatchException(ErrorCode.NO_WATCHER);
        }
        return ReplyBody.Empty.INSTANCE;
    }

    ReplyBody check(WatchRequest.CheckWatches request) {
        if (!connection.loop().watches().contains(request.path(), connection, kinds(request.type()))) {
            throw new RefusedWatchException(ErrorCode.NO_WATCHER);
        }
        return ReplyBody.Empty.INSTANCE;
    }

    private static int kinds(int type) {
        WatcherType known =
                WatcherType.lookup(type).orElseThrow(() -> new RefusedWatchException(ErrorCode.MARSHALLING_ERROR));
        return switch (known) {
            case CHILDREN -> WatchTable.CHILDREN;
            case DATA -> WatchTable.DATA;
            case ANY -> WatchTable.ANY;
            case PERSISTENT -> WatchTable.PERSISTENT;
            case PERSISTENT_RECURSIVE -> WatchTable.RECURSIVE;
        };
    }

    /**
     * Events that a client has missed while it was away are sent at once; the watches that missed nothing are set.
     * Clients do not look at the answer, so one whose watches find no room loses its connection rather than a watch.
     */
    ReplyBody setAgain(TreeState state, WatchRequest.SetWatches request) {
        try {
            return setAll(state, request);
        } catch (RefusedWatchException e) {
            connection.close("its watches find no room here");
            throw e;
        }
    }

    private ReplyBody setAll(TreeState state, WatchRequest.SetWatches request) {
        long seen = request.relativeZxid();
        for (String path : request.dataWatches()) {
            Optional<Znode> node = state.znode(path);
            if (node.isEmpty()) {
                tell(TreeEvent.Type.DELETED, path);
            } else if (node.get().mzxid() > seen) {
                tell(TreeEvent.Type.DATA_CHANGED, path);
            } else {
                set(path, WatchTable.DATA);
            }
        }
        for (String path : request.existWatches()) {
            if (state.znode(path).isPresent()) {
                tell(TreeEvent.Type.CREATED, path);
            } else {
                set(path, WatchTable.DATA);
            }
        }
        for (String path : request.childWatches()) {
            Optional<Znode> node = state.znode(path);
            if (node.isEmpty()) {
                tell(TreeEvent.Type.DELETED, path);
            } else if (node.get().pzxid() > seen) {
                tell(TreeEvent.Type.CHILDREN_CHANGED, path);
            } else {
                set(path, WatchTable.CHILDREN);
            }
        }
        request.persistentWatches().forEach(path -> set(path, WatchTable.PERSISTENT));
        request.persistentRecursiveWatches().forEach(path -> set(path, WatchTable.RECURSIVE));
        return ReplyBody.Empty.INSTANCE;
    }

    /** As in ZooKeeper no permission is asked for: the owner of the watch learns that it is spent, and no more. */
    private void tell(TreeEvent.Type type, String path) {
        connection.tell(new TreeEvent(type, path, NO_ZXID, ZnodeAcl.OPEN));
    }
}
