package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.testkit.tls.CertificateAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;

/** Servers whose members speak TLS and nothing else; the commands ask the other servers over TLS, too. */
class RecoveryWithTlsIT extends RecoveryScenarios {
    @Override
    EnsembleBuilder configured(EnsembleBuilder ensemble) {
        CertificateAuthority authority = new CertificateAuthority("CN=our authority");
        return ensemble.with("sslQuorum", true)
                .with(
                        "ssl.quorum.keyStore.location",
                        authority.issue("CN=a server", "127.0.0.1").writePem(home.resolve("own.pem")))
                .with("ssl.quorum.trustStore.location", authority.writePem(home.resolve("trust.pem")));
    }

    @AfterEach
    void allLinksUsedTls() throws IOException {
        List<Path> logs;
        try (Stream<Path> files = Files.walk(home)) {
            logs = files.filter(file -> file.toString().matches(".*/member-\\d+-\\d+\\.log"))
                    .toList();
        }
        int linked = 0;
        for (Path log : logs) {
            for (String line : Files.readAllLines(log)) {
                if (line.contains(" is linked at ")) {
                    linked++;
                    assertTrue(line.contains("with TLS"), line);
                }
            }
        }
        assertTrue(linked >= 6, linked + " links in " + logs);
    }
}
