package io.conclave.proofs.interop;

import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.SASLAuthenticationProvider;

/** A stand-alone Apache ZooKeeper in this JVM, with session timeouts from 200 ms on. */
public final class ApacheZooKeeper implements ServerUnderTest {
    private static final int TICK_MS = 100;
    private static final String SASL_PROVIDER = "zookeeper.authProvider.sasl";

    private final Path directory = ServerDirectory.create("apache-zookeeper");
    private final int port = FreePort.find();
    private ZooKeeperServer server;
    private NIOServerCnxnFactory connections;

    /** Starts a server on an empty directory. */
    public ApacheZooKeeper() {
        prepareJvm();
        start();
    }

    /**
     * Sets the properties that ZooKeeper reads once in a JVM. Each test that starts a server of ZooKeeper in this JVM
     * calls it before: the first one decides for the others, and which that is changes from run to run.
     */
    static void prepareJvm() {
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.forceSync", "no"); // there is no power failure here
        System.setProperty("zookeeper.preAllocSize", "1024");
        System.setProperty("zookeeper.extendedTypesEnabled", "true"); // znodes with a time to live, which ours has
        System.setProperty("zookeeper.enforceQuota", "true"); // few tests have quotas
        System.setProperty(SASL_PROVIDER, SASLAuthenticationProvider.class.getName());
        ProviderRegistry.addOrUpdateProvider(SASL_PROVIDER); // another server of this JVM may have read them before
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public String url() {
        return "zookeeper://" + hostPort();
    }

    /** Where it keeps its files. */
    public Path dataDirectory() {
        return directory;
    }

    /** Writes a snapshot while it goes on serving. */
    public void takeSnapshot() {
        try {
            server.takeSnapshot();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void stop() {
        connections.shutdown();
        server.shutdown(true);
    }

    @Override
    public void start() {
        try {
            server = new ZooKeeperServer(directory.toFile(), directory.toFile(), TICK_MS);
            server.setMaxSessionTimeout(60_000);
            connections = new NIOServerCnxnFactory();
            connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            connections.startup(server);
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
        ServerDirectory.delete(directory);
    }
}
