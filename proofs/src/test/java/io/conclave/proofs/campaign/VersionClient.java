package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.grant.FencedGrant;
import io.conclave.locks.DistributedLock;
import java.time.Duration;

/**
 * A process that uses a lock and an election a few times, with the classes of whatever version it is started on: it
 * uses of the API what every version has. Status 0 when all went well.
 */
public final class VersionClient {
    private static final int TURNS = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private VersionClient() {}

    /** @param arguments the connect string, and where this version's classes must have come from */
    public static void main(String[] arguments) throws InterruptedException {
        String source = Coordinator.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        if (!source.contains(arguments[1])) {
            throw new IllegalStateException("the classes are those of " + source);
        }
        try (Coordinator coordinator = Coordinator.connect(arguments[0])) {
            for (int i = 0; i < TURNS; i++) {
                try (FencedGrant lock =
                                DistributedLock.at(coordinator, "/version-lock").acquire(PATIENCE);
                        FencedGrant lead = LeaderElection.at(coordinator, "/version-election")
                                .campaign(PATIENCE)) {
                    System.out.println(lock.token() + " " + lead.token());
                }
            }
        }
    }
}
