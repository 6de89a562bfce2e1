package io.conclave.proofs.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.OlderZooKeeper;
import io.conclave.proofs.interop.ServerDirectory;
import io.conclave.proofs.interop.ServerUnderTest;
import io.conclave.proofs.interop.StandaloneConclave;
import io.conclave.request.Create;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The servers on which contracts run: each is started when the first test of this JVM asks for it and lives as long as
 * the JVM; each test works under a chroot of its own.
 */
enum ContractBackends {
    /** Our server in the test's own JVM, durable; every test has one of its own. */
    EMBEDDED(() -> Servers.NONE),
    /** Our stand-alone, durable server over TCP. */
    STANDALONE(() -> Servers.of(new StandaloneConclave())),
    /** Apache ZooKeeper 3.9.5. */
    APACHE_ZOOKEEPER(() -> Servers.of(new ApacheZooKeeper())),
    /** The last Apache ZooKeeper without persistent watches. */
    ZOOKEEPER_3_5(() -> Servers.of(new OlderZooKeeper("3.5.10"))),
    /** The first line with persistent watches. Up to 3.8, a connection has one watch mode for a path. */
    ZOOKEEPER_3_6(() -> Servers.of(new OlderZooKeeper("3.6.4"))),
    /** Apache ZooKeeper 3.7. */
    ZOOKEEPER_3_7(() -> Servers.of(new OlderZooKeeper("3.7.2"))),
    /** The last line in which a connection has one watch mode for a path. */
    ZOOKEEPER_3_8(() -> Servers.of(new OlderZooKeeper("3.8.6"))),
    /** Three of our servers; each client goes to whichever it likes. */
    ENSEMBLE(ContractEnsemble::new),
    /** The same, but the leader is killed again and again, and with it the connections of a third of the clients. */
    ENSEMBLE_WITH_KILLS(ContractEnsemble::withKills),
    /** The same kills, but all clients are on a fourth server that does not vote: they must not notice anything. */
    OBSERVER_WITH_KILLS(ContractEnsemble::withKillsBehindAnObserver),
    /**
     * Three server processes; {@code -Densemble.kind} says whose, and with {@code -Dcontract.kills=10} the leader is
     * killed every ten seconds.
     */
    PROCESSES(ContractProcesses::new);

    /** What a backend consists of. */
    interface Servers extends AutoCloseable {
        /** Where there is no server until a client connects. */
        Servers NONE = of("embedded:", () -> {});

        /** A connect string without a chroot. */
        String url();

        /** A test begins to use them. */
        default void begin() {}

        /** A test uses them no longer. */
        default void end() {}

        /** Ends them and deletes their data. */
        @Override
        void close();

        private static Servers of(ServerUnderTest server) {
            return of(server.url(), server::close);
        }

        private static Servers of(String url, Runnable close) {
            return new Servers() {
                @Override
                public String url() {
                    return url;
                }

                @Override
                public void close() {
                    close.run();
                }
            };
        }
    }

    private final Supplier<Servers> starter;
    private Servers servers;

    ContractBackends(Supplier<Servers> starter) {
        this.starter = starter;
    }

    /** A connect string to what all tests share. */
    String url() {
        return servers().url();
    }

    /** A connect string to an unused store. */
    String freshUrl() throws InterruptedException {
        String url = servers().url();
        String store = url + (this == EMBEDDED ? ServerDirectory.create("contract") : freshChroot(url));
        servers().begin();
        return store;
    }

    private static String freshChroot(String url) throws InterruptedException {
        String chroot = "/contract-" + UUID.randomUUID();
        try (Coordinator coordinator = Coordinator.connect(url)) {
            coordinator.execute(Create.of(NodePath.of(chroot)));
            return chroot;
        } catch (OutcomeUnknownException e) {
            System.out.println("Another chroot than " + chroot + ": " + e.getMessage()); // a server was killed
            return freshChroot(url);
        }
    }

    /** A store is not used any more. */
    void release(String freshUrl) {
        servers().end();
        if (this == EMBEDDED) {
            ServerDirectory.delete(Path.of(freshUrl.substring(servers().url().length())));
        }
    }

    private synchronized Servers servers() {
        if (servers == null) {
            servers = starter.get();
            Runtime.getRuntime().addShutdownHook(new Thread(servers::close));
        }
        return servers;
    }
}
