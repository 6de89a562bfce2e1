package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** The same over TLS: a caller that has a certificate has no secret yet. */
@Timeout(180)
@Tag("proof")
@Isolated("counts the lines that the whole package logs")
class ProvenLinkWithTlsTest extends ProvenLinkTest {
    private static final TestTls CERTIFICATES = new TestTls();
    private static final PeerTls MEMBERS = CERTIFICATES.members();

    @Override
    PeerTls tls() {
        return MEMBERS;
    }

    @Override
    Socket over(Socket plain, boolean calls) throws IOException {
        return CERTIFICATES.over(plain, calls);
    }
}
