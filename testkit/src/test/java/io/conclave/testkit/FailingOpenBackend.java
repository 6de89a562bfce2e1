package io.conclave.testkit;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.spi.SessionListener;
import io.conclave.testkit.memory.MemoryBackend;
import io.conclave.testkit.memory.MemoryStore;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** {@code failing-open:name}: the store {@code memory:name}, where as many sessions as a test says cannot be opened. */
public final class FailingOpenBackend implements BackendProvider {
    private static final Map<String, AtomicInteger> FAILURES = new ConcurrentHashMap<>();

    /** How many of the next sessions of a store cannot be opened. */
    static AtomicInteger failuresLeft(String store) {
        return FAILURES.computeIfAbsent(store, name -> new AtomicInteger());
    }

    @Override
    public Set<String> schemes() {
        return Set.of("failing-open");
    }

    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        MemoryBackend memory = new MemoryBackend(MemoryStore.named(connectString.path()), options);
        AtomicInteger failures = failuresLeft(connectString.path());
        return new Backend() {
            @Override
            public Set<Capability> capabilities() {
                return memory.capabilities();
            }

            @Override
            public BackendSession openSession(SessionListener listener) {
                if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                    throw new IllegalStateException("No thread can be started");
                }
                return memory.openSession(listener);
            }

            @Override
            public void close() {
                memory.close();
            }
        };
    }
}
