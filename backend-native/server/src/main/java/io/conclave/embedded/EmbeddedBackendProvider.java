package io.conclave.embedded;

import io.conclave.client.WireBackend;
import io.conclave.consensus.LogException;
import io.conclave.error.ConnectException;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Serves {@code embedded:}, a fresh store in memory that nobody else sees, and {@code embedded:<directory>}, a durable
 * one. The users of one directory in one JVM share its server; another JVM is refused.
 */
public final class EmbeddedBackendProvider implements BackendProvider {
    private static final Set<String> SCHEMES = Set.of("embedded");

    /** Called by {@link java.util.ServiceLoader}. */
    public EmbeddedBackendProvider() {}

    @Override
    public Set<String> schemes() {
        return SCHEMES;
    }

    /**
     * Starts a server, or joins the one of the directory. Blocks until it serves.
     *
     * @throws ConnectException if the directory is in use by another process or cannot be read
     */
    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        if (!connectString.endpoints().isEmpty()) {
            throw new IllegalArgumentException("Invalid connect string \"" + connectString.text()
                    + "\": an embedded server has no address; embedded: keeps everything in memory,"
                    + " embedded:/var/lib/app in that directory");
        }
        try {
            return connectString.path().isEmpty() ? inMemory(options) : durable(directory(connectString), options);
        } catch (LogException | UncheckedIOException e) {
            throw new ConnectException(connectString.text() + " cannot be opened: " + e.getMessage(), e);
        }
    }

    private static Path directory(ConnectString connectString) {
        try {
            return Path.of(connectString.path());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(
                    "Invalid connect string \"" + connectString.text() + "\": not a directory's path: " + e.getReason(),
                    e);
        }
    }

    private static Backend inMemory(BackendOptions options) {
        ConclaveServer server =
                ConclaveServer.start(ServerConfig.embedded(Optional.empty()), options.time(), cause -> {});
        return WireBackend.local(server.address(), server.eventLoops(), options, server::close);
    }

    private static Backend durable(Path directory, BackendOptions options) {
        EmbeddedServers servers = EmbeddedServers.OF_THIS_JVM;
        ConclaveServer server = servers.use(directory, options.time());
        return WireBackend.local(
                server.address(), server.eventLoops(), options, () -> servers.giveBack(directory, server));
    }
}
