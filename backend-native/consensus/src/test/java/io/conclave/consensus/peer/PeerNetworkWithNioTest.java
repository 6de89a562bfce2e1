package io.conclave.consensus.peer;

/** The JDK's sockets in place of the kernel's epoll. */
class PeerNetworkWithNioTest extends PeerNetworkTest {
    @Override
    PeerOptions.Builder with(PeerOptions.Builder options) {
        return options.nativeTransport(false);
    }
}
