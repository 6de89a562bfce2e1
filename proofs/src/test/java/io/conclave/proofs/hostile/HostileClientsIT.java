package io.conclave.proofs.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients without credentials do their worst to servers with a heap of 256 MB: no server ends, and what other clients
 * ask for is done. {@code scripts/hostile-clients} does the same for longer, and shows how long the others wait.
 */
class HostileClientsIT {
    private static final int SECONDS = Integer.getInteger("hostile.seconds", 3);
    private static final int CONNECTIONS = Integer.getInteger("hostile.connections", 3);

    @TempDir
    private Path home;

    @Test
    @Timeout(3600)
    void noAttackEndsAServerOrFailsTheRequestsOfOthers() throws Exception {
        try (Ensemble ensemble = HostileClients.start(EnsembleKind.CONCLAVE, home)) {
            List<HostileClients.Outcome> outcomes =
                    HostileClients.run(ensemble, SECONDS, CONNECTIONS, List.of(Attack.values()));
            for (HostileClients.Outcome outcome : outcomes) {
                assertTrue(outcome.survived(), outcome::toString);
                assertEquals(0, outcome.during().failures(), outcome::toString);
                assertTrue(outcome.during().count() > 0, outcome::toString);
            }
        }
    }
}
