package io.conclave.client;

import io.conclave.error.ClosedException;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.spi.SessionListener;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A backend behind the ZooKeeper wire protocol: an ensemble of ours, Apache ZooKeeper 3.5 and newer, or a server in
 * this JVM.
 *
 * <p>Requests may have 0xfffff bytes (ZooKeeper's default limit) and are refused with BAD_ARGUMENTS beyond it; a server
 * that sends an answer of more than 64 MB loses the connection. Credentials that a server rejects make the session
 * refuse every request with AUTH_FAILED; it does not try again.
 */
public final class WireBackend implements Backend {
    private static final Logger LOG = LoggerFactory.getLogger(WireBackend.class);
    private static final int CLOSE_MS = 3000;
    private static final Set<Capability> OF_ALL_SERVERS =
            Set.copyOf(EnumSet.of(Capability.CONTAINERS, Capability.ACL, Capability.PERSISTENT_WATCHES));
    private static final Set<Capability> OF_OUR_SERVERS = Set.copyOf(
            EnumSet.of(Capability.CONTAINERS, Capability.ACL, Capability.PERSISTENT_WATCHES, Capability.TTL));
    /** For connect strings that may lead to a server with times to live switched off. */
    private static final String FOREIGN_SCHEME = "zookeeper";

    private final ClientTransport transport;
    private final Set<Capability> capabilities;
    private final BackendOptions options;
    private final Runnable onClose;
    private final LostSessions lostSessions = new LostSessions();
    private final Set<WireSession> sessions = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();

    private WireBackend(
            ClientTransport transport, Set<Capability> capabilities, BackendOptions options, Runnable onClose) {
        this.transport = transport;
        this.capabilities = capabilities;
        this.options = options;
        this.onClose = onClose;
    }

    /**
     * A backend over TCP, with TLS if the options say so. Connects when a session is opened. Blocks only to read the
     * files of the TLS options.
     *
     * @throws IllegalArgumentException if the connect string names no server
     * @throws io.conclave.error.ConnectException if the files of the TLS options cannot be used
     */
    public static WireBackend open(ConnectString connectString, BackendOptions options) {
        if (connectString.endpoints().isEmpty()) {
            throw new IllegalArgumentException("Invalid connect string \"" + connectString.text()
                    + "\": must name servers, as in " + connectString.scheme() + "://host:2181");
        }
        return new WireBackend(
                new TcpTransport(connectString.endpoints(), options.followsEnsemble(), options.tls()),
                connectString.scheme().equals(FOREIGN_SCHEME) ? OF_ALL_SERVERS : OF_OUR_SERVERS,
                options,
                () -> {});
    }

    /**
     * A backend whose server listens in this JVM. Never blocks.
     *
     * @param address where the server listens
     * @param loops run the connections; they can be the server's, which spares a hop between threads. Not stopped by
     *     this backend
     * @param options as for any backend
     * @param onClose runs once when the backend is closed, after its sessions; closes the server, say
     */
    public static WireBackend local(
            SocketAddress address, EventLoopGroup loops, BackendOptions options, Runnable onClose) {
        return new WireBackend(new LocalTransport(address, loops), OF_OUR_SERVERS, options, onClose);
    }

    @Override
    public Set<Capability> capabilities() {
        return capabilities;
    }

    @Override
    public BackendSession openSession(SessionListener listener) {
        if (closed.get()) {
            throw new ClosedException("open session: " + this + " was closed");
        }
        WireSession session = new WireSession(transport, options, lostSessions, listener);
        sessions.add(session);
        session.whenOver(() -> sessions.remove(session));
        session.open();
        return session;
    }

    /**
     * Closes the sessions, waits up to three seconds for the servers' confirmations, and stops the threads. Not to be
     * called on a session's dispatcher.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        List<WireSession> open = new ArrayList<>(sessions);
        CompletableFuture<?>[] closing = open.stream()
                .map(session -> session.closeAsync().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        await(CompletableFuture.allOf(closing));
        open.forEach(WireSession::end);
        transport.close();
        onClose.run();
    }

    private void await(CompletableFuture<Void> all) {
        try {
            all.get(CLOSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.info("{}: closed without the confirmation of all sessions", this);
        }
    }

    @Override
    public String toString() {
        return "backend at " + transport;
    }
}
