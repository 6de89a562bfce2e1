package io.conclave.ensemble;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.EnsembleTls;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.TlsSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers that are processes, whose members speak TLS. */
@Timeout(300)
@Tag("proof")
class ProcessesWithTlsTest {
    @TempDir
    private Path directory;

    private static StoreFile store(String name, Path file) {
        return StoreFile.of("ssl.quorum." + name + ".location", file, StorePassword.none());
    }

    /** So that the servers say how they are linked. */
    private Path logging() throws IOException {
        return Files.writeString(
                directory.resolve("logback.xml"),
                "<configuration><appender name='OUT' class='ch.qos.logback.core.ConsoleAppender'>"
                        + "<encoder><pattern>%msg%n</pattern></encoder></appender>"
                        + "<root level='INFO'><appender-ref ref='OUT'/></root></configuration>");
    }

    @Test
    void allLinksUseTls() throws IOException {
        CertificateAuthority authority = new CertificateAuthority("CN=our authority");
        TlsSettings settings = TlsSettings.builder("ssl.quorum.")
                .keyStore(store(
                        "keyStore", authority.issue("CN=a server", "127.0.0.1").writePem(directory.resolve("own.pem"))))
                .trustStore(store("trustStore", authority.writePem(directory.resolve("trusted.pem"))))
                .build();
        ConclaveEnsemble ensemble = ConclaveEnsemble.builder()
                .membersTls(new EnsembleTls(Optional.of(settings), true, false, true, true))
                .asProcesses("-Xmx64m", "-Dlogback.configurationFile=" + logging())
                .directory(directory)
                .start();
        try (ensemble) {
            for (int id : ensemble.ids()) {
                List<String> links =
                        Files.readAllLines(directory.resolve("server-" + id + "/conclave-server.out")).stream()
                                .filter(line -> line.contains(" is linked at "))
                                .toList();
                assertTrue(links.size() >= 2, links::toString);
                assertTrue(links.stream().allMatch(line -> line.endsWith(", with TLS")), links::toString);
            }
        }
    }
}
