package io.conclave.connection;

import io.conclave.tree.TreeEvent;
import io.conclave.tree.ZnodeAcl;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The word of a server that is about to stop, on one event loop: the event that the data of {@link ClusterNode} have
 * changed goes to the connections that watch them. Such a client sends nothing more, takes the answers that it waits
 * for, and goes to another server. Belongs to the loop.
 */
final class Goodbye {
    private static final TreeEvent EVENT =
            new TreeEvent(TreeEvent.Type.DATA_CHANGED, ClusterNode.PATH, WatchRequests.NO_ZXID, ZnodeAcl.OPEN);

    private final Loop loop;
    private final Set<ClientConnection> told = new HashSet<>();
    private @Nullable CompletableFuture<@Nullable Void> answered;

    Goodbye(Loop loop) {
        this.loop = loop;
    }

    /** Whether no client is taken in any more. */
    boolean isSaid() {
        return answered != null;
    }

    /**
     * Says it, and sends away the clients that have no session yet.
     *
     * @param newAnswered completes when all notified clients have gone
     */
    void say(CompletableFuture<@Nullable Void> newAnswered) {
        answered = newAnswered;
        loop.connections().forEach(ClientConnection::refuseNewcomer);
        tell();
        complete();
    }

    /** A session has begun to watch. */
    void watched() {
        if (isSaid()) {
            loop.post(this::tell);
        }
    }

    private void tell() {
        loop.watches().take(ClusterNode.PATH).forEach(this::tell);
        loop.watches().lasting(ClusterNode.PATH).stream()
                .filter(watcher -> !(watcher instanceof ClientConnection connection && told.contains(connection)))
                .forEach(this::tell);
    }

    private void tell(WatchTable.Watcher watcher) {
        if (watcher instanceof ClientConnection connection && !connection.isGone()) {
            told.add(connection);
            connection.tell(EVENT);
        }
    }

    void gone(ClientConnection connection) {
        if (told.remove(connection)) {
            complete();
        }
    }

    private void complete() {
        CompletableFuture<@Nullable Void> pending = answered;
        if (pending != null && told.isEmpty()) {
            pending.complete(null);
        }
    }
}
