package io.conclave.testkit.proxy;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards TCP connections from a port of the loopback interface, or another address of this machine, to a target, and
 * breaks them on request.
 *
 * <p>The target need not be reachable when the proxy starts. Thread-safe. Uses two daemon threads a connection, so it
 * is for tests only. Methods do not block, but for those that say so.
 */
public final class FaultProxy implements AutoCloseable {
    /** Which way bytes go. */
    public enum Direction {
        /** From the client to the target. */
        TO_TARGET,
        /** From the target to the client. */
        TO_CLIENT
    }

    private static final Logger LOG = LoggerFactory.getLogger(FaultProxy.class);
    private static final int CONNECT_TIMEOUT_MS = 5_000;

    private final InetSocketAddress target;
    private final TimeSource time;
    private final ServerSocket server;
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private final Valve toTarget = new Valve();
    private final Valve toClient = new Valve();
    private volatile boolean refuses;
    private volatile boolean isClosed;

    /**
     * Starts on a free port.
     *
     * @throws UncheckedIOException if there is none
     */
    public static FaultProxy to(String targetHost, int targetPort) {
        return at(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new InetSocketAddress(targetHost, targetPort));
    }

    /**
     * Starts on an address of this machine: for peers that are told where to connect by name and port, so that the
     * proxy must have the port of its target on another address (on Linux all of 127.0.0.0/8 is the loopback
     * interface).
     *
     * @param listen where; port 0 takes a free one
     * @throws UncheckedIOException if it is taken, or not of this machine
     */
    public static FaultProxy at(InetSocketAddress listen, InetSocketAddress target) {
        return new FaultProxy(listen, target, TimeSource.system());
    }

    private FaultProxy(InetSocketAddress listen, InetSocketAddress target, TimeSource time) {
        this.target = target;
        this.time = time;
        try {
            this.server = new ServerSocket();
            server.bind(listen, 50);
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy to " + target + " cannot listen on " + listen, e);
        }
        startDaemon("fault-proxy-accept", this::acceptLoop);
    }

    /** The port to connect to. */
    public int port() {
        return server.getLocalPort();
    }

    /** Closes every new connection at once, until {@link #accept}. Those that are there stay. */
    public void refuse() {
        refuses = true;
    }

    /** Ends {@link #refuse}. */
    public void accept() {
        refuses = false;
    }

    /** Closes every connection, both ways; new ones are accepted. */
    public void cut() {
        connections.forEach(ProxiedConnection::close);
    }

    /**
     * Loses the next bytes of one direction, on whatever connection, and closes that connection: so a reply is lost and
     * its request is not. Once; {@link #restore} takes it back.
     */
    public void cutAtNext(Direction direction) {
        valve(direction).loseNext();
    }

    /** Closes every connection and refuses new ones: the network is gone until {@link #restore}. */
    public void isolate() {
        refuse();
        cut();
    }

    /** Ends every fault: new connections are accepted, bytes flow without delay. */
    public void restore() {
        accept();
        for (Direction direction : Direction.values()) {
            valve(direction).restore();
        }
    }

    /**
     * Holds the bytes of one direction, on all connections, until {@link #flow}; connections stay open, as with a cable
     * pulled out.
     */
    public void stall(Direction direction) {
        valve(direction).shut();
    }

    /** Ends {@link #stall}: what was held goes on, in order. */
    public void flow(Direction direction) {
        valve(direction).open();
    }

    /**
     * Bytes of this direction arrive so much later from now on, in order. They are forwarded in pieces, each of which
     * waits: this bounds the rate too.
     */
    public void delay(Direction direction, Duration delay) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("Invalid delay " + delay + ": it must not be negative");
        }
        valve(direction).delay(delay);
    }

    /** How many connections were accepted so far, refused ones excluded. */
    public long acceptedConnections() {
        return accepted.get();
    }

    /** How many connections are open. */
    public int openConnections() {
        return connections.size();
    }

    /** Closes the port and every connection. */
    @Override
    public void close() {
        isClosed = true;
        closeQuietly(server);
        restore();
        cut();
    }

    private Valve valve(Direction direction) {
        return direction == Direction.TO_TARGET ? toTarget : toClient;
    }

    private void acceptLoop() {
        while (!isClosed) {
            try {
                Socket client = server.accept();
                if (refuses) {
                    closeQuietly(client);
                } else {
                    accepted.incrementAndGet();
                    startDaemon("fault-proxy-connect", () -> connect(client));
                }
            } catch (IOException e) {
                if (!isClosed) {
                    LOG.warn("The proxy to {} cannot accept a connection", target, e);
                }
            }
        }
    }

    private void connect(Socket client) {
        Socket upstream = new Socket();
        ProxiedConnection connection = new ProxiedConnection(List.of(client, upstream));
        connections.add(connection);
        try {
            // Resolved anew each time: the target may have moved.
            upstream.connect(new InetSocketAddress(target.getHostString(), target.getPort()), CONNECT_TIMEOUT_MS);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
        } catch (IOException e) {
            LOG.debug("The proxy cannot reach {}", target, e);
            connection.close();
            return;
        }
        if (isClosed) {
            connection.close();
            return;
        }
        startDaemon("fault-proxy-to-target", () -> pump(client, upstream, toTarget, connection));
        pump(upstream, client, toClient, connection);
    }

    private void pump(Socket from, Socket to, Valve valve, ProxiedConnection connection) {
        byte[] buffer = new byte[16 * 1024];
        try {
            int count = from.getInputStream().read(buffer);
            while (count >= 0) {
                valve.pass(time, connection::isClosed);
                if (connection.isClosed() || valve.losesThis()) {
                    return; // what was held is lost with the connection, also while that is being closed
                }
                to.getOutputStream().write(buffer, 0, count);
                count = from.getInputStream().read(buffer);
            }
            // A close is news like any other: it waits where bytes wait.
            valve.pass(time, connection::isClosed);
        } catch (IOException e) {
            LOG.debug("A connection to {} ended: {}", target, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connection.close();
        }
    }

    private static void startDaemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOG.debug("Closing {} failed", closeable, e);
        }
    }

    /** Both ends of a forwarded connection; they close together. */
    private final class ProxiedConnection {
        private final List<Socket> ends;
        private volatile boolean closed;

        ProxiedConnection(List<Socket> ends) {
            this.ends = new ArrayList<>(ends);
        }

        boolean isClosed() {
            return closed;
        }

        void close() {
            closed = true;
            connections.remove(this);
            ends.forEach(FaultProxy::closeQuietly);
            toTarget.wake();
            toClient.wake();
        }
    }
}
