package io.conclave.proofs.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients without credentials do their worst to servers with a heap of 256 MB: no server ends or lacks memory, and what
 * other clients ask for is done. {@code scripts/hostile-clients} does the same for longer, and shows how long the
 * others wait.
 */
class HostileClientsIT {
    private static final int SECONDS = Integer.getInteger("hostile.seconds", 3);
    /** For the table only: nothing here depends on it. */
    private static final int SECONDS_BEFORE = 1;

    /** All, or those that are named, with commas. */
    private static final String ATTACKS = System.getProperty("hostile.attacks", "");

    private static final int CONNECTIONS = Integer.getInteger("hostile.connections", 3);

    /**
     * Half of the others' requests are answered sooner, also on a busy machine. If none is answered for the time of an
     * attack, the median of its windows is 2 s. How p99 compares with that beside a process that takes as much of the
     * processors, the campaign shows.
     */
    private static final double STANDSTILL_MS = 1_500;

    @TempDir
    private Path home;

    private static List<Attack> attacks() {
        return ATTACKS.isEmpty()
                ? List.of(Attack.values())
                : Arrays.stream(ATTACKS.split(",")).map(Attack::valueOf).toList();
    }

    @Test
    @Timeout(3600)
    void noAttackEndsAServerOrHoldsUpOrFailsTheRequestsOfOthers() throws Exception {
        assertHold(HostileClients.builder(EnsembleKind.CONCLAVE, home), attacks());
    }

    /** As many sessions as an attack can open in its time, also on a busy machine. */
    @Test
    @Timeout(600)
    void strangersThatOpenAllSessionsKeepOutNeitherANewClientNorAnOperator() throws Exception {
        assertHold(
                HostileClients.builder(EnsembleKind.CONCLAVE, home)
                        .with("maxSessions", 1_200)
                        .with("maxSessionsPerSecond", 200),
                List.of(Attack.MANY_SESSIONS, Attack.UNKNOWN_SESSIONS));
    }

    private static void assertHold(EnsembleBuilder servers, List<Attack> attacks) throws Exception {
        try (Ensemble ensemble = HostileClients.start(servers);
                HostileClients clients = new HostileClients(ensemble, CONNECTIONS)) {
            for (Attack attack : attacks) {
                HostileClients.Outcome outcome = clients.run(attack, SECONDS_BEFORE, SECONDS);
                System.out.println(outcome.row() + " " + outcome.sent());
                if (outcome.during().failures() > 0) {
                    System.out.println(outcome + clients.logs());
                }
                clients.tidy();
                assertEquals(0, outcome.ended(), outcome::toString);
                assertEquals(0, clients.lacksOfMemory(), () -> outcome + clients.logs());
                assertEquals(0, outcome.during().failures(), outcome::toString);
                assertEquals(List.of(), outcome.refused(), outcome::toString);
                assertTrue(outcome.during().count() > 0, outcome::toString);
                assertTrue(outcome.during().p50() < STANDSTILL_MS, outcome::toString);
            }
        }
    }
}
