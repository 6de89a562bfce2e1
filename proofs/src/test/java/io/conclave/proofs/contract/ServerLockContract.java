package io.conclave.proofs.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.LockContract;
import io.conclave.node.NodePath;
import io.conclave.proofs.interop.ServerUnderTest;
import io.conclave.spi.Create;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;

/** The lock's contract on one server for all tests, each of which works under a chroot of its own. */
abstract class ServerLockContract extends LockContract {
    private String chroot = "";

    abstract ServerUnderTest server();

    @BeforeEach
    void makeChroot() throws InterruptedException {
        chroot = "/contract-" + UUID.randomUUID();
        try (Coordinator coordinator = Coordinator.connect(server().url())) {
            coordinator.execute(Create.of(NodePath.of(chroot)));
        }
    }

    @Override
    protected String connectString() {
        return server().url() + chroot;
    }
}
