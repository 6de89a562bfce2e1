package io.conclave.client;

import io.conclave.error.ConnectException;
import io.conclave.session.TlsOptions;
import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.tls.TlsContext;
import io.conclave.tls.TlsException;
import io.conclave.tls.TlsProperties;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** TLS of the connections of one backend, and what the log says when it fails. Thread-safe. */
final class ClientTlsContext {
    private static final Logger LOG = LoggerFactory.getLogger(ClientTlsContext.class);
    private static final String PREFIX = "ssl.";

    private final TlsContext tls;
    private final Map<Endpoint, String> told = new ConcurrentHashMap<>();

    /**
     * Reads the stores. Blocks.
     *
     * @param executor runs what blocks in handshakes
     * @throws ConnectException if they cannot be used
     */
    ClientTlsContext(TlsOptions options, Executor executor) {
        try {
            tls = TlsContext.forClient(
                    new TlsProperties(PREFIX, options.properties()).settings().build(), executor);
        } catch (TlsException e) {
            throw new ConnectException("Cannot use TLS: " + e.getMessage(), e);
        }
    }

    /** Reads the stores again if they have changed. Blocks. */
    void reloadIfChanged() {
        tls.reloadIfChanged();
    }

    /** What stands on a new channel to a server until TLS is there, and tells of TLS afterwards. */
    TlsOpening opening(Endpoint endpoint, Connection connection) {
        return new TlsOpening(tls, endpoint, connection, this);
    }

    void succeeded(Endpoint endpoint) {
        told.remove(endpoint);
    }

    /** Says so in the log, unless it is what was said of this server last. */
    void failed(Endpoint endpoint, String reason) {
        if (!reason.equals(told.put(endpoint, reason))) {
            LOG.warn("No TLS with {}: {}", endpoint, reason);
        }
    }
}
