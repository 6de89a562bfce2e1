package io.conclave.testkit.memory;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Serves {@code memory:} with a store of its own for each backend, and {@code memory:name} with the one store of that
 * name in this JVM.
 */
public final class MemoryBackendProvider implements BackendProvider {
    private final @Nullable MemoryStore fixedStore;

    /** For {@link java.util.ServiceLoader}. */
    public MemoryBackendProvider() {
        this.fixedStore = null;
    }

    MemoryBackendProvider(MemoryStore fixedStore) {
        this.fixedStore = fixedStore;
    }

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        if (!connectString.endpoints().isEmpty()) {
            throw new IllegalArgumentException("Invalid connect string \"" + connectString.text()
                    + "\": the backend in memory has no servers; write memory: or memory:name");
        }
        return new MemoryBackend(store(connectString.path(), options), options);
    }

    private MemoryStore store(String name, BackendOptions options) {
        if (fixedStore != null) {
            return fixedStore;
        }
        return name.isEmpty() ? new MemoryStore(options.time()) : MemoryStore.named(name, options.time());
    }
}
