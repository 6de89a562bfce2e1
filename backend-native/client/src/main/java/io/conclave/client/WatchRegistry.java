package io.conclave.client;

import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherType;
import io.conclave.request.Watcher;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The watches of a session: which watcher is told of which event. Owned by the session's event loop.
 *
 * <p>The server has one watch for all watchers of a path and kind, and an event does not say which kind fired; the
 * rules by which an event finds its watchers are those of the official client.
 */
final class WatchRegistry {
    /**
     * The kinds of watch. DATA and EXIST are one table at the server; they differ in the events that a reconnect may
     * have missed.
     */
    enum Kind {
        DATA(WatcherType.DATA),
        EXIST(WatcherType.DATA),
        CHILD(WatcherType.CHILDREN),
        PERSISTENT(WatcherType.PERSISTENT),
        RECURSIVE(WatcherType.PERSISTENT_RECURSIVE);

        private final WatcherType serverType;

        Kind(WatcherType serverType) {
            this.serverType = serverType;
        }

        WatcherType serverType() {
            return serverType;
        }

        boolean isPersistent() {
            return this == PERSISTENT || this == RECURSIVE;
        }
    }

    /** A frame of setWatches stays below this, so that it fits into any server's limit. */
    private static final int MAX_FRAME_BYTES = 128 * 1024;

    private static final int STRING_LENGTH_BYTES = 4;
    private static final int MAX_UTF8_BYTES_PER_CHAR = 3;

    private final Map<Kind, Map<NodePath, List<Watcher>>> watchers = new EnumMap<>(Kind.class);

    WatchRegistry() {
        for (Kind kind : Kind.values()) {
            watchers.put(kind, new HashMap<>());
        }
    }

    /** Registers a watcher; a second time is the same as once. */
    void add(Kind kind, NodePath path, Watcher watcher) {
        List<Watcher> list = of(kind).computeIfAbsent(path, absent -> new ArrayList<>(1));
        addIdentical(list, watcher);
    }

    /** Removes a watcher of a path, of all kinds; false if there was none. */
    boolean remove(NodePath path, Watcher watcher) {
        boolean found = false;
        for (Map<NodePath, List<Watcher>> paths : watchers.values()) {
            List<Watcher> list = paths.get(path);
            if (list != null && list.removeIf(other -> other.equals(watcher))) {
                found = true;
                if (list.isEmpty()) {
                    paths.remove(path);
                }
            }
        }
        return found;
    }

    void clear() {
        watchers.values().forEach(Map::clear);
    }

    /** Whether there are watches whose missed events no server reports. */
    boolean isAnyPersistent() {
        return !of(Kind.PERSISTENT).isEmpty() || !of(Kind.RECURSIVE).isEmpty();
    }

    /** The paths with a watch of a kind. */
    Set<NodePath> paths(Kind kind) {
        return of(kind).keySet();
    }

    /** Removes and returns the one-shot watchers of a list of children. */
    List<Watcher> takeChildWatchers(NodePath path) {
        List<Watcher> told = new ArrayList<>();
        take(Kind.CHILD, path, told);
        return told;
    }

    /** The watchers of an event, each once; removes the one-shot watches that fire. */
    List<Watcher> fire(NodeEvent.Type type, NodePath path) {
        List<Watcher> told = new ArrayList<>();
        switch (type) {
            case CREATED, DATA_CHANGED -> {
                take(Kind.DATA, path, told);
                take(Kind.EXIST, path, told);
                addAll(told, of(Kind.PERSISTENT).get(path));
                addRecursive(path, told);
            }
            case DELETED -> {
                take(Kind.DATA, path, told);
                take(Kind.EXIST, path, told);
                take(Kind.CHILD, path, told);
                addAll(told, of(Kind.PERSISTENT).get(path));
                addRecursive(path, told);
            }
            case CHILDREN_CHANGED -> {
                take(Kind.CHILD, path, told);
                addAll(told, of(Kind.PERSISTENT).get(path));
            }
            case WATCH_REMOVED -> {}
        }
        return told;
    }

    /**
     * The watches that the server may drop when this watcher is removed, except those of requests under way; empty if
     * another watcher still needs them.
     *
     * @param path the znode
     * @param watcher who goes
     * @param underWay kinds in which a request that was sent and not yet answered registers another watcher on the path
     * @param own kinds in which such a request registers this watcher
     */
    Optional<WatcherType> forgettable(NodePath path, Watcher watcher, Set<Kind> underWay, Set<Kind> own) {
        Set<WatcherType> going = EnumSet.noneOf(WatcherType.class);
        Set<WatcherType> staying = EnumSet.noneOf(WatcherType.class);
        own.forEach(kind -> going.add(kind.serverType()));
        underWay.forEach(kind -> staying.add(kind.serverType()));
        for (Kind kind : Kind.values()) {
            for (Watcher other : of(kind).getOrDefault(path, List.of())) {
                (other.equals(watcher) ? going : staying).add(kind.serverType());
            }
        }
        // Servers before 3.9 know no type of the persistent kinds, but all know ANY.
        boolean all = !going.isEmpty() && staying.isEmpty();
        going.removeAll(staying);
        return all ? Optional.of(WatcherType.ANY) : going.stream().findFirst();
    }

    /**
     * The requests that set all watches again on a new connection.
     *
     * @param relativeZxid the last change that was seen in a reply: what came after it fires at once
     */
    List<WatchRequest.SetWatches> resume(long relativeZxid) {
        List<WatchRequest.SetWatches> requests = new ArrayList<>();
        // Servers before 3.6 know the old request only; they have no persistent watches either.
        OpCode opCode = isAnyPersistent() ? OpCode.SET_WATCHES2 : OpCode.SET_WATCHES;
        Map<Kind, List<String>> frame = emptyFrame();
        int bytes = 0;
        for (Kind kind : Kind.values()) {
            for (NodePath path : of(kind).keySet()) {
                String text = path.toString();
                int pathBytes = STRING_LENGTH_BYTES + text.length() * MAX_UTF8_BYTES_PER_CHAR;
                if (bytes > 0 && bytes + pathBytes > MAX_FRAME_BYTES) {
                    requests.add(request(opCode, relativeZxid, frame));
                    frame = emptyFrame();
                    bytes = 0;
                }
                listOf(frame, kind).add(text);
                bytes += pathBytes;
            }
        }
        if (bytes > 0) {
            requests.add(request(opCode, relativeZxid, frame));
        }
        return requests;
    }

    private static WatchRequest.SetWatches request(OpCode opCode, long relativeZxid, Map<Kind, List<String>> frame) {
        return new WatchRequest.SetWatches(
                opCode,
                relativeZxid,
                listOf(frame, Kind.DATA),
                listOf(frame, Kind.EXIST),
                listOf(frame, Kind.CHILD),
                listOf(frame, Kind.PERSISTENT),
                listOf(frame, Kind.RECURSIVE));
    }

    private static Map<Kind, List<String>> emptyFrame() {
        return new EnumMap<>(Kind.class);
    }

    private static List<String> listOf(Map<Kind, List<String>> frame, Kind kind) {
        return frame.computeIfAbsent(kind, absent -> new ArrayList<>());
    }

    private void addRecursive(NodePath path, List<Watcher> told) {
        Map<NodePath, List<Watcher>> recursive = of(Kind.RECURSIVE);
        if (recursive.isEmpty()) {
            return;
        }
        for (Optional<NodePath> at = Optional.of(path);
                at.isPresent();
                at = at.get().parent()) {
            addAll(told, recursive.get(at.get()));
        }
    }

    private void take(Kind kind, NodePath path, List<Watcher> told) {
        addAll(told, of(kind).remove(path));
    }

    private static void addAll(List<Watcher> told, @Nullable List<Watcher> more) {
        if (more != null) {
            more.forEach(watcher -> addIdentical(told, watcher));
        }
    }

    private static void addIdentical(List<Watcher> list, Watcher watcher) {
        for (Watcher other : list) {
            if (other.equals(watcher)) {
                return;
            }
        }
        list.add(watcher);
    }

    private Map<NodePath, List<Watcher>> of(Kind kind) {
        return watchers.computeIfAbsent(kind, absent -> new HashMap<>());
    }
}
