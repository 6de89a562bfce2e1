package io.conclave.proofs.architecture.planted;

import io.conclave.server.faults.ServerFaults;

/** Has the name of another class, and kills servers. */
final class ConclaveServer {
    private ConclaveServer() {}

    static void kill(AutoCloseable server) {
        ServerFaults.of(server).kill(() -> {});
    }
}
