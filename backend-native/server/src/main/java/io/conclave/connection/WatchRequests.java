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
import java.util.Iterator;
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
        if (path.equals(ClusterNode.PATH)) {
            connection.loop().goodbye().watched();
        }
    }

    /**
     * Sets a watch on what was read from a state that may not be the present one. What has happened to it since is told
     * at once, and is one event for the change of many, as for a client that was away.
     */
    void setSince(TreeState read, String path, int kind) {
        TreeState now = connection.loop().state();
        if (connection.isGone()) {
            return; // an event before this one was too much for it
        }
        if (read.lastZxid() == now.lastZxid()) {
            set(path, kind);
        } else if (kind == WatchTable.CHILDREN) {
            setChildren(now, path, read.lastZxid());
        } else {
            setData(now, path, read.lastZxid());
        }
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

    /** What {@link #setAgain} has still to do. */
    static final class OldWatches {
        private final long seen;
        private final Iterator<String> data;
        private final Iterator<String> exist;
        private final Iterator<String> children;
        private final Iterator<String> persistent;
        private final Iterator<String> recursive;
        private final int paths;

        OldWatches(WatchRequest.SetWatches request) {
            paths = request.dataWatches().size()
                    + request.existWatches().size()
                    + request.childWatches().size()
                    + request.persistentWatches().size()
                    + request.persistentRecursiveWatches().size();
            seen = request.relativeZxid();
            data = request.dataWatches().iterator();
            exist = request.existWatches().iterator();
            children = request.childWatches().iterator();
            persistent = request.persistentWatches().iterator();
            recursive = request.persistentRecursiveWatches().iterator();
        }

        /** How many there were at first. */
        int paths() {
            return paths;
        }
    }

    /**
     * Events that a client has missed while it was away are sent at once; the watches that missed nothing are set. Each
     * path is looked at in the state that the loop has reached by then, so nothing is missed between two calls. Clients
     * do not look at the answer, so one whose watches find no room loses its connection rather than a watch. An event
     * ends the connection as well, if its client reads too slowly. No watch is set after that: none would remove it.
     *
     * @param paths how many to look at, at most
     * @return whether all are done
     */
    boolean setAgain(OldWatches old, int paths) {
        try {
            for (int left = paths; left > 0 && !connection.isGone(); left--) {
                if (!setNext(connection.loop().state(), old)) {
                    return true;
                }
            }
            return false;
        } catch (RefusedWatchException e) {
            connection.close("its watches find no room here");
            return true;
        }
    }

    /** False if there is none. */
    private boolean setNext(TreeState state, OldWatches old) {
        if (old.data.hasNext()) {
            setData(state, old.data.next(), old.seen);
        } else if (old.exist.hasNext()) {
            setExist(state, old.exist.next());
        } else if (old.children.hasNext()) {
            setChildren(state, old.children.next(), old.seen);
        } else if (old.persistent.hasNext()) {
            set(old.persistent.next(), WatchTable.PERSISTENT);
        } else if (old.recursive.hasNext()) {
            set(old.recursive.next(), WatchTable.RECURSIVE);
        } else {
            return false;
        }
        return true;
    }

    private void setData(TreeState state, String path, long seen) {
        Optional<Znode> node = state.znode(path);
        if (path.equals(ClusterNode.PATH)) {
            set(path, WatchTable.DATA);
        } else if (node.isEmpty()) {
            tell(TreeEvent.Type.DELETED, path);
        } else if (node.get().mzxid() > seen) {
            tell(TreeEvent.Type.DATA_CHANGED, path);
        } else {
            set(path, WatchTable.DATA);
        }
    }

    private void setExist(TreeState state, String path) {
        if (state.znode(path).isPresent() || path.equals(ClusterNode.PATH)) {
            tell(TreeEvent.Type.CREATED, path);
        } else {
            set(path, WatchTable.DATA);
        }
    }

    private void setChildren(TreeState state, String path, long seen) {
        Optional<Znode> node = state.znode(path);
        if (node.isEmpty()) {
            tell(TreeEvent.Type.DELETED, path);
        } else if (node.get().pzxid() > seen) {
            tell(TreeEvent.Type.CHILDREN_CHANGED, path);
        } else {
            set(path, WatchTable.CHILDREN);
        }
    }

    /** As in ZooKeeper no permission is asked for: the owner of the watch learns that it is spent, and no more. */
    private void tell(TreeEvent.Type type, String path) {
        connection.tell(new TreeEvent(type, path, NO_ZXID, ZnodeAcl.OPEN));
    }
}
