package io.conclave.client;

import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.EventType;
import io.conclave.protocol.WatchMode;
import io.conclave.protocol.WatchRequest;
import io.conclave.protocol.WatcherType;
import io.conclave.request.AddWatch;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Delivers events to the session's watchers, and knows which watches to set at the server, to remove there, and to set
 * again. Owned by the session's event loop.
 *
 * <p>A path with a persistent watch gets no other watch at the server; {@link ServerWatches} says why.
 */
final class SessionWatches {
    private final Deliveries deliveries;
    private final WatchRegistry registry = new WatchRegistry();
    private final ServerWatches server = new ServerWatches();

    /** An event on its way to a watcher. */
    private record Notification(Watcher watcher, NodeEvent event) implements Runnable {
        @Override
        public void run() {
            watcher.onEvent(event);
        }
    }

    SessionWatches(Deliveries deliveries) {
        this.deliveries = deliveries;
    }

    /**
     * The request as the server is to get it, next: without a watch if the connection has a persistent one on the path
     * already.
     */
    Request<?> asSent(Request<?> request) {
        if (request instanceof AddWatch add) {
            WatchMode mode = add.recursive() ? WatchMode.PERSISTENT_RECURSIVE : WatchMode.PERSISTENT;
            boolean recursive = server.send(add.path(), mode) == WatchMode.PERSISTENT_RECURSIVE;
            return new AddWatch(add.path(), recursive, add.watcher());
        }
        if (request instanceof GetData get && get.watcher().isPresent() && server.isAny(get.path())) {
            return GetData.of(get.path());
        }
        if (request instanceof Exists exists && exists.watcher().isPresent() && server.isAny(exists.path())) {
            return Exists.of(exists.path());
        }
        if (request instanceof GetChildren get && get.watcher().isPresent() && server.isAny(get.path())) {
            return GetChildren.of(get.path());
        }
        return request;
    }

    /**
     * The server did not set a persistent watch.
     *
     * @param refused the request for it
     * @param inFlight requests under way, some of which may have been sent without a watch because of it
     * @return whether there are such requests
     */
    boolean notSet(AddWatch refused, Iterable<Exchange> inFlight) {
        server.forget(refused.path());
        for (Exchange exchange : inFlight) {
            if (exchange instanceof UserExchange<?> user && user.dependsOn(refused)) {
                return true;
            }
        }
        return false;
    }

    void register(UserExchange.Registration registration) {
        registry.add(registration.kind(), registration.path(), registration.watcher());
        if (registration.kind().isPersistent()) {
            server.set(registration.path());
        }
    }

    /**
     * Delivers an event to its watchers.
     *
     * @param zxid of the change; not positive if the server did not say
     */
    void tell(EventType type, NodePath path, long zxid) {
        NodeEvent.Type kind = kind(type);
        NodeEvent told = new NodeEvent(kind, path, zxid > 0 ? zxid : -1);
        if (kind == NodeEvent.Type.CHILDREN_CHANGED && server.isRecursive(path)) {
            tell(told, registry.takeChildWatchers(path)); // the others were told with the child's event
            return;
        }
        tell(told, registry.fire(kind, path));
        if (kind == NodeEvent.Type.CREATED || kind == NodeEvent.Type.DELETED) {
            path.parent().filter(server::isRecursive).ifPresent(parent -> tellOfList(parent, told.zxid()));
        }
    }

    /** A recursive watch does not report lists of children, and may be the only watch that the server has. */
    private void tellOfList(NodePath parent, long zxid) {
        NodeEvent told = new NodeEvent(NodeEvent.Type.CHILDREN_CHANGED, parent, zxid);
        tell(told, registry.fire(told.type(), parent));
    }

    private void tell(NodeEvent told, List<Watcher> watchers) {
        watchers.forEach(watcher -> deliveries.add(new Notification(watcher, told)));
    }

    private static NodeEvent.Type kind(EventType type) {
        return switch (type) {
            case NODE_CREATED -> NodeEvent.Type.CREATED;
            case NODE_DELETED -> NodeEvent.Type.DELETED;
            case NODE_DATA_CHANGED -> NodeEvent.Type.DATA_CHANGED;
            case NODE_CHILDREN_CHANGED -> NodeEvent.Type.CHILDREN_CHANGED;
        };
    }

    /**
     * The watches that the server may drop when this watcher is removed.
     *
     * @param inFlight requests whose watches are not registered yet
     */
    Optional<WatcherType> forgettable(RemoveWatch request, Iterable<Exchange> inFlight) {
        Set<WatchRegistry.Kind> others = EnumSet.noneOf(WatchRegistry.Kind.class);
        Set<WatchRegistry.Kind> own = EnumSet.noneOf(WatchRegistry.Kind.class);
        for (Exchange exchange : inFlight) {
            if (exchange instanceof UserExchange<?> user) {
                user.registration()
                        .filter(registration -> registration.path().equals(request.path()))
                        .ifPresent(registration -> (registration.watcher().equals(request.watcher()) ? own : others)
                                .add(registration.kind()));
            }
        }
        Optional<WatcherType> forgettable = registry.forgettable(request.path(), request.watcher(), others, own);
        if (!server.isAny(request.path())) {
            return forgettable;
        }
        // A persistent watch serves all watchers of its path, so it goes with the last of them.
        Optional<WatcherType> all = forgettable.filter(type -> type == WatcherType.ANY);
        all.ifPresent(type -> server.forget(request.path()));
        return all;
    }

    /** Removes a watcher here and tells it; false if it was not set. */
    boolean forget(RemoveWatch request) {
        boolean found = registry.remove(request.path(), request.watcher());
        if (found) {
            NodeEvent event = new NodeEvent(NodeEvent.Type.WATCH_REMOVED, request.path(), -1);
            deliveries.add(new Notification(request.watcher(), event));
        }
        return found;
    }

    /**
     * The requests that set all watches again on a new connection.
     *
     * @param relativeZxid the last change that was seen in a reply: what came after it fires at once
     */
    List<WatchRequest.SetWatches> resume(long relativeZxid) {
        server.resume(registry.paths(WatchRegistry.Kind.PERSISTENT), registry.paths(WatchRegistry.Kind.RECURSIVE));
        return registry.resume(relativeZxid);
    }

    /** Whether there are watches whose missed events no server reports. */
    boolean isAnyPersistent() {
        return registry.isAnyPersistent();
    }

    /** Removes all watchers without telling them. */
    void clear() {
        registry.clear();
        server.resume(Set.of(), Set.of());
    }
}
