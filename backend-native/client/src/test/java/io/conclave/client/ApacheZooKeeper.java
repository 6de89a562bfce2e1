package io.conclave.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A stand-alone Apache ZooKeeper in this JVM, on a free port of the loopback address and a temporary directory. */
public final class ApacheZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 500;

    private final Path directory;
    private int port;
    private ZooKeeperServer server;
    private NIOServerCnxnFactory connections;

    private ApacheZooKeeper(Path directory) {
        this.directory = directory;
    }

    /** Starts a server; session timeouts from 1 s to 10 s. */
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
            server = new ZooKeeperServer(directory.toFile(), directory.toFile(), TICK_MS);
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
