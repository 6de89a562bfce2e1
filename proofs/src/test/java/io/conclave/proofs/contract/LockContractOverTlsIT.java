package io.conclave.proofs.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.LockContract;
import io.conclave.node.NodePath;
import io.conclave.proofs.interop.ServerDirectory;
import io.conclave.request.Create;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.session.TlsOptions;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.time.TimeSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** The mutex's contract on a stand-alone server over TLS, with certificates on both sides. */
class LockContractOverTlsIT extends LockContract {
    private static Path directory;
    private static ConclaveServer server;
    private static TlsOptions options;

    private String chroot;

    @BeforeAll
    static void start() throws Exception {
        directory = ServerDirectory.create("tls");
        CertificateAuthority authority = new CertificateAuthority("CN=Authority");
        Path trust = authority.writePem(directory.resolve("trust.pem"));
        Path own = authority.issue("CN=server", "localhost").writePem(directory.resolve("server.pem"));
        Path client = authority.issue("CN=client").writePem(directory.resolve("client.pem"));
        server = ConclaveServer.start(
                ConfigFile.read(Files.write(
                        directory.resolve("zoo.cfg"),
                        List.of(
                                "dataDir=" + directory.resolve("data"),
                                "clientPort=0",
                                "clientPortAddress=localhost",
                                "secureClientPort=0",
                                "tickTime=100",
                                "maxSessionTimeout=60000",
                                "maxClientCnxns=0",
                                "ssl.keyStore.location=" + own,
                                "ssl.trustStore.location=" + trust))),
                TimeSource.system(),
                cause -> {});
        options = TlsOptions.trusting(trust).keyStore(client);
    }

    @AfterAll
    static void stop() {
        server.close();
        ServerDirectory.delete(directory);
    }

    @BeforeEach
    void makeStore() throws InterruptedException {
        chroot = "/contract-" + UUID.randomUUID();
        try (Coordinator coordinator =
                Coordinator.builder(address()).tls(options).connect()) {
            coordinator.execute(Create.of(NodePath.of(chroot)));
        }
    }

    private static String address() {
        return "conclave://localhost:" + server.secureClientPort().orElseThrow();
    }

    @Override
    public String connectString() {
        return address() + chroot;
    }

    @Override
    public Optional<TlsOptions> tls() {
        return Optional.of(options);
    }
}
