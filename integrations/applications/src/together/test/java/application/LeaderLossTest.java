package application;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.junit.ConclaveExtension;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LeaderLossTest {
    @RegisterExtension
    static final ConclaveExtension CONCLAVE = ConclaveExtension.builder()
            .servers(3)
            .coordinators(coordinator -> coordinator.sessionTimeout(Duration.ofMinutes(2))) // on a busy machine
            .build();

    @Test
    void lockSurvivesTheLeader(Coordinator holder, ConclaveEnsemble ensemble) throws Exception {
        LockGrant held = DistributedLock.at(holder, "/locks/orders").acquire();
        ensemble.kill(ensemble.awaitLeader());
        ensemble.awaitLeader();
        assertTrue(held.isHeld());
    }
}
