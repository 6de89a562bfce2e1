package io.conclave.consensus.peer;

import io.conclave.server.EnsembleTls;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.TlsSettings;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The same over TLS. The stranger has a certificate of the members' authority, and names of callers are not compared,
 * so the secret alone is what keeps it out.
 */
@Timeout(300)
@Tag("proof")
@Isolated("floods the loopback interface")
class HostilePeerWithTlsTest extends HostilePeerTest {
    private static final TestTls CERTIFICATES = new TestTls();

    @Override
    EnsembleTls tls() {
        return new EnsembleTls(
                Optional.of(TlsSettings.builder("ssl.quorum.")
                        .keyStore(store("keyStore", CERTIFICATES.own.writePem(CERTIFICATES.file("members"))))
                        .trustStore(store("trustStore", CERTIFICATES.authority.writePem(CERTIFICATES.file("trusted"))))
                        .build()),
                true,
                false,
                false,
                false);
    }

    private static StoreFile store(String name, Path file) {
        return StoreFile.of("ssl.quorum." + name + ".location", file, StorePassword.none());
    }

    /** Of a record of TLS. */
    @Override
    int firstByte() {
        return 22;
    }

    @Override
    Socket over(Socket plain) throws IOException {
        return CERTIFICATES.over(plain, true);
    }
}
