package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;

/** The same over TLS. */
class PeerNetworkWithTlsTest extends PeerNetworkTest {
    private static final PeerTls MEMBERS = new TestTls().members();

    @Override
    PeerOptions.Builder with(PeerOptions.Builder options) {
        return options.tls(MEMBERS);
    }
}
