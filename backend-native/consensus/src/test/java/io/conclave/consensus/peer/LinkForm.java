package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import java.io.IOException;
import java.net.Socket;

/** What the connections of a test use. */
interface LinkForm {
    /** No TLS. */
    LinkForm PLAIN = new LinkForm() {
        @Override
        public PeerTls tls() {
            return PeerTls.NONE;
        }

        @Override
        public Socket over(Socket plain, boolean calls) {
            return plain;
        }
    };

    /** TLS, with certificates of one authority. */
    LinkForm WITH_TLS = new LinkForm() {
        private final TestTls certificates = new TestTls();
        private final PeerTls members = certificates.members();

        @Override
        public PeerTls tls() {
            return members;
        }

        @Override
        public Socket over(Socket plain, boolean calls) throws IOException {
            return certificates.over(plain, calls);
        }
    };

    /** Of members. */
    PeerTls tls();

    /** What a raw peer makes of its connection. */
    Socket over(Socket plain, boolean calls) throws IOException;
}
