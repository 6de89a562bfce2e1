package io.conclave.embedded;

import io.conclave.consensus.LogException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The durable embedded servers of this JVM: users of one directory share its server, and the last to leave closes it.
 */
final class EmbeddedServers {
    static final EmbeddedServers OF_THIS_JVM = new EmbeddedServers();

    private final Object lock = new Object();
    // @GuardedBy("lock")
    private final Map<Path, Shared> byDirectory = new HashMap<>();

    /** A server in the making, in use, or on its way out. */
    private static final class Shared {
        final CompletableFuture<ConclaveServer> started = new CompletableFuture<>();
        final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
        // @GuardedBy("lock")
        int users;
        // @GuardedBy("lock")
        boolean begun;

        /** True for the one who has to start it. */
        boolean begin(Object lock) {
            synchronized (lock) {
                boolean first = !begun;
                begun = true;
                return first;
            }
        }
    }

    /**
     * The server of a directory, started if nobody here uses it yet. Blocks meanwhile. To be given back once.
     *
     * @throws LogException if the directory is in use by another process or its log cannot be read
     */
    ConclaveServer use(Path directory, TimeSource time) {
        Path key = directory.toAbsolutePath().normalize();
        while (true) {
            Shared shared;
            boolean leaving;
            synchronized (lock) {
                shared = byDirectory.computeIfAbsent(key, path -> new Shared());
                leaving = shared.begun && shared.users == 0;
                if (!leaving) {
                    shared.users++;
                }
            }
            if (leaving) {
                shared.closed.join();
            } else {
                return shared.begin(lock) ? start(key, shared, time) : join(shared.started);
            }
        }
    }

    private ConclaveServer start(Path directory, Shared shared, TimeSource time) {
        try {
            ConclaveServer server = ConclaveServer.start(
                    ServerConfig.embedded(Optional.of(directory)), time, cause -> forget(directory, shared));
            shared.started.complete(server);
            return server;
        } catch (RuntimeException | Error e) {
            forget(directory, shared);
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

    private void forget(Path directory, Shared shared) {
        synchronized (lock) {
            byDirectory.remove(directory, shared);
        }
        shared.closed.complete(null);
    }

    /** Gives a server back; the last user's call closes it and blocks until it is closed. */
    void giveBack(Path directory, ConclaveServer server) {
        Path key = directory.toAbsolutePath().normalize();
        Shared last = null;
        synchronized (lock) {
            Shared shared = byDirectory.get(key);
            if (shared != null && shared.started.getNow(null) == server && --shared.users == 0) {
                last = shared;
            }
        }
        if (last != null) {
            try {
                server.close();
            } finally {
                forget(key, last); // whoever comes next must not wait for ever
            }
        }
    }
}
