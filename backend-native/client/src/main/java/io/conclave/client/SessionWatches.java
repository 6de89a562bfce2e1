package io.conclave.client;

import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.protocol.EventType;
import io.conclave.protocol.SetWatchesRequest;
import io.conclave.protocol.WatcherType;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.Watcher;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Brings events to the session's watchers, and knows which watches the server may forget and which it must be told again. Owned by the session's event loop.
 */
final class SessionWatches {
    private final Deliveries deliveries;
    private final WatchRegistry registry = new WatchRegistry();

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

    void register(UserExchange.Registration registration) {
        registry.add(registration.kind(), registration.path(), registration.watcher());
    }

    /**
     * Tells an event to its watchers.
     *
     * @param zxid of the change; not positive if the server did not say
     */
    void tell(EventType type, NodePath path, long zxid) {
        NodeEvent.Type kind = kind(type);
        NodeEvent told = new NodeEvent(kind, path, zxid > 0 ? zxid : -1);
        List<Watcher> watchers = registry.fire(kind, path);
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
     * What the server may forget when this watcher goes.
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
        return registry.forgettable(request.path(), request.watcher(), others, own);
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
    List<SetWatchesRequest> resume(long relativeZxid) {
        return registry.resume(relativeZxid);
    }

    /** Whether there are watches whose missed events no server tells of. */
    boolean isAnyPersistent() {
        return registry.isAnyPersistent();
    }

    /** Forgets all watchers and tells none. */
    void clear() {
        registry.clear();
    }
}
