package io.conclave.testkit.memory;

import io.conclave.error.ClosedException;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.SessionListener;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A backend on a {@link MemoryStore}: the full semantics of the SPI without a network, and with faults on request.
 * Thread-safe; nothing here blocks.
 */
public final class MemoryBackend implements Backend {
    private static final Set<Capability> CAPABILITIES = Set.copyOf(EnumSet.of(
            Capability.CONTAINERS,
            Capability.TTL,
            Capability.ACL,
            Capability.PERSISTENT_WATCHES,
            Capability.STRICT_DEADLINE));

    private final MemoryStore store;
    private final BackendOptions options;
    private final Set<ProvenIdentity> identities = new LinkedHashSet<>();
    private final MemoryLostSessions lost = new MemoryLostSessions();
    private final Object lock = new Object();
    /** {@code @GuardedBy("lock")}. */
    private final List<MemorySession> sessions = new ArrayList<>();
    /** {@code @GuardedBy("lock")}. */
    private boolean isClosed;

    /**
     * Opens a backend on a store.
     *
     * @throws IllegalArgumentException if an authentication is not digest or is malformed
     */
    public MemoryBackend(MemoryStore store, BackendOptions options) {
        this.store = Objects.requireNonNull(store, "store");
        this.options = Objects.requireNonNull(options, "options");
        options.authentications().forEach(authentication -> identities.add(ProvenIdentity.of(authentication)));
    }

    /** The store that this backend uses. */
    public MemoryStore store() {
        return store;
    }

    @Override
    public Set<Capability> capabilities() {
        if (store.faults().hasPersistentWatches()) {
            return CAPABILITIES;
        }
        Set<Capability> fewer = EnumSet.copyOf(CAPABILITIES);
        fewer.remove(Capability.PERSISTENT_WATCHES);
        return Set.copyOf(fewer);
    }

    @Override
    public BackendSession openSession(SessionListener listener) {
        Objects.requireNonNull(listener, "listener");
        MemorySession session = new MemorySession(store, options, Set.copyOf(identities), listener, lost);
        synchronized (lock) {
            if (isClosed) {
                throw new ClosedException("open session: the backend was closed");
            }
            sessions.removeIf(other -> !other.state().isLive());
            sessions.add(session);
        }
        session.open();
        return store.faults().asUsedBy(options.time(), session);
    }

    @Override
    public void close() {
        List<MemorySession> open;
        synchronized (lock) {
            isClosed = true;
            open = List.copyOf(sessions);
            sessions.clear();
        }
        open.forEach(MemorySession::closeAsync);
    }
}
