package io.conclave.client;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import java.util.Set;

/** Serves {@code conclave://host:port,...} and {@code zookeeper://host:port,...}: the same client for both. */
public final class WireBackendProvider implements BackendProvider {
    private static final Set<String> SCHEMES = Set.of("conclave", "zookeeper");

    /** Called by {@link java.util.ServiceLoader}. */
    public WireBackendProvider() {}

    @Override
    public Set<String> schemes() {
        return SCHEMES;
    }

    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        return WireBackend.open(connectString, options);
    }
}
