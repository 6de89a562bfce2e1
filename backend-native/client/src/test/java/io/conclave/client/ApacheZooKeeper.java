package io.conclave.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.jspecify.annotations.Nullable;

/** A stand-alone Apache ZooKeeper in this JVM, on a free port of the loopback address and a temporary directory. */
public final class ApacheZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 500;
    private static final int LONGEST_SESSION_MS = 60_000;
    private static final int REAPER_CHECK_MS = 200;

    private final Path directory;
    private int port;
    private Server server;
    private @Nullable ContainerManager reaper;
    private NIOServerCnxnFactory connections;

    private ApacheZooKeeper(Path directory) {
        this.directory = directory;
    }

    /** Starts a server; session timeouts from 1 s to a minute. */
    public static ApacheZooKeeper start() {
        try {
            System.setProperty("zookeeper.4lw.commands.whitelist", "*");
            System.setProperty("zookeeper.admin.enableServer", "false");
            ApacheZooKeeper zooKeeper = new ApacheZooKeeper(Files.createTempDirectory("apache-zookeeper"));
            zooKeeper.restart();
            return zooKeeper;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * As {@link #start}; offers znodes with a time to live, as all servers of this JVM do from then on, and soon
     * deletes them.
     */
    public static ApacheZooKeeper startWithTimesToLive() {
        System.setProperty("zookeeper.extendedTypesEnabled", "true");
        ApacheZooKeeper zooKeeper = start();
        zooKeeper.reaper = new ContainerManager(
                zooKeeper.server.getZKDatabase(), zooKeeper.server.first(), REAPER_CHECK_MS, 10_000, 0);
        zooKeeper.reaper.start();
        return zooKeeper;
    }

    /** A server that shows the beginning of its pipeline. */
    private static final class Server extends ZooKeeperServer {
        Server(Path directory) throws IOException {
            super(directory.toFile(), directory.toFile(), TICK_MS);
            setMaxSessionTimeout(LONGEST_SESSION_MS);
        }

        RequestProcessor first() {
            return firstProcessor;
        }
    }

    /** The port for clients, the same after a restart. */
    public int port() {
        return port;
    }

    /** A connect string for our client. */
    public String url() {
        return "zookeeper://127.0.0.1:" + port;
    }

    /** The server itself. */
    public ZooKeeperServer server() {
        return server;
    }

    /** Stops the server without closing sessions; its data stay. */
    public void stop() {
        if (connections != null) {
            connections.shutdown();
            server.shutdown(true);
            connections = null;
        }
    }

    /** Starts the server again on its port and data. */
    public void restart() {
        try {
            server = new Server(directory);
            connections = new NIOServerCnxnFactory();
            connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            connections.startup(server);
            port = connections.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        if (reaper != null) {
            reaper.stop();
        }
        stop();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
