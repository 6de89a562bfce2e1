package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The same over TLS. */
@Timeout(180)
@Tag("proof")
class JoinWithTlsTest extends JoinTest {
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
