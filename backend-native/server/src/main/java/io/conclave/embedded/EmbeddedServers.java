package io.conclave.embedded;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The embedded servers of this JVM: the users of one place share its server, and the last to leave closes it.
 */
final class EmbeddedServers {
    static final EmbeddedServers OF_THIS_JVM = new EmbeddedServers();

    private final Object lock = new Object();
    // @GuardedBy("lock")
    private final Map<EmbeddedPlace, Shared> byPlace = new HashMap<>();

    /** A server in the making, in use, or on its way out. */
    private static final class Shared {
        final CompletableFuture<ConclaveServer> started = new CompletableFuture<>();
        final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
        // @GuardedBy("lock")
        int users;
        // @GuardedBy("lock")
        boolean begun;

        /** True for the caller that has to start it. */
        boolean begin(Object lock) {
            synchronized (lock) {
                boolean first = !begun;
                begun = true;
                return first;
            }
        }
    }

    /**
     * The server of a place, started if it is not in use here yet. Blocks meanwhile. To be given back once.
     *
     * @throws LogException if the directory is in use by another process or its log cannot be read
     */
    ConclaveServer use(EmbeddedPlace place, TimeSource time) {
        while (true) {
            Shared shared;
            boolean leaving;
            synchronized (lock) {
                shared = byPlace.computeIfAbsent(place, key -> new Shared());
                leaving = shared.begun && shared.users == 0;
                if (!leaving) {
                    shared.users++;
                }
            }
            if (leaving) {
                shared.closed.join();
            } else {
                return shared.begin(lock) ? start(place, shared, time) : join(shared.started);
            }
        }
    }

    private ConclaveServer start(EmbeddedPlace place, Shared shared, TimeSource time) {
        try {
            ConclaveServer server = ConclaveServer.start(
                    ServerConfig.embedded(place.directory()), time, cause -> forget(place, shared));
            shared.started.complete(server);
            return server;
        } catch (RuntimeException | Error e) {
            forget(place, shared);
            shared.started.completeExceptionally(e);
            throw e;
        }
    }

    private static ConclaveServer join(CompletableFuture<ConclaveServer> started) {
        try {
            return started.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private void forget(EmbeddedPlace place, Shared shared) {
        synchronized (lock) {
            byPlace.remove(place, shared);
        }
        shared.closed.complete(null);
    }

    /** Gives a server back; the last user's call closes it and blocks until it is closed. */
    void giveBack(EmbeddedPlace place, ConclaveServer server) {
        Shared last = null;
        synchronized (lock) {
            Shared shared = byPlace.get(place);
            if (shared != null && shared.started.getNow(null) == server && --shared.users == 0) {
                last = shared;
            }
        }
        if (last != null) {
            try {
                server.close();
            } finally {
                forget(place, last); // the next user must not wait for it without end
            }
        }
    }
}
