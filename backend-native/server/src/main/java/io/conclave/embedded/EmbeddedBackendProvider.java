package io.conclave.embedded;

import io.conclave.client.WireBackend;
import io.conclave.consensus.LogException;
import io.conclave.error.ConnectException;
import io.conclave.server.ConclaveServer;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import java.io.UncheckedIOException;
import java.util.Set;

/**
 * Serves {@code embedded:}, a store in memory, {@code embedded:memory/name}, a store in memory of that name, and
 * {@code embedded:<directory>}, a durable one.
 *
 * <p>Coordinators of one JVM with the same string share one server, so they exclude each other. It closes with the last
 * of them, and what was in memory is gone then. Another JVM that opens the same directory is refused.
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
     * Starts a server, or joins the one of that place. Blocks until it serves.
     *
     * @throws IllegalArgumentException if the string names an address, or a store in memory without a name
     * @throws ConnectException if the directory is in use by another process or cannot be read
     */
    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        EmbeddedPlace place = EmbeddedPlace.of(connectString);
        EmbeddedServers servers = EmbeddedServers.OF_THIS_JVM;
        try {
            ConclaveServer server = servers.use(place, options.time());
            return WireBackend.local(
                    server.address(), server.eventLoops(), options, () -> servers.giveBack(place, server));
        } catch (LogException | UncheckedIOException e) {
            throw new ConnectException(connectString.text() + " cannot be opened: " + e.getMessage(), e);
        }
    }
}
