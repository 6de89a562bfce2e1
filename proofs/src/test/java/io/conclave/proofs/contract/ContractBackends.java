package io.conclave.proofs.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.ServerUnderTest;
import io.conclave.proofs.interop.StandaloneConclave;
import io.conclave.spi.Create;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The servers on which contracts run: each is started when the first test of this JVM asks for it and lives as long as the JVM; each test works
 * under a chroot of its own.
 */
enum ContractBackends {
    /** Our stand-alone, durable server over TCP. */
    STANDALONE(StandaloneConclave::new),
    /** Apache ZooKeeper 3.9.5. */
    APACHE_ZOOKEEPER(ApacheZooKeeper::new),
    /** Three servers, with {@code -Dcontract.ensemble=true}; {@code -Densemble.kind} says whose, and with {@code -Dcontract.kills=5} the leader is killed every five seconds. */
    ENSEMBLE(EnsembleUnderTest::new);

    private final Supplier<ServerUnderTest> starter;
    private ServerUnderTest server;

    ContractBackends(Supplier<ServerUnderTest> starter) {
        this.starter = starter;
    }

    /** A connect string under a new, empty chroot. */
    String freshUrl() throws InterruptedException {
        String url = server().url();
        String chroot = "/contract-" + UUID.randomUUID();
        try (Coordinator coordinator = Coordinator.connect(url)) {
            coordinator.execute(Create.of(NodePath.of(chroot)));
        }
        return url + chroot;
    }

    private synchronized ServerUnderTest server() {
        if (server == null) {
            server = starter.get();
            Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        }
        return server;
    }
}
