package io.conclave.proofs.contract;

import io.conclave.locks.SemaphoreContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The semaphore's contract on every backend. */
class SemaphoreContractIT {
    @Nested
    class Embedded extends SemaphoreContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends SemaphoreContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends SemaphoreContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends SemaphoreContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends SemaphoreContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends SemaphoreContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends SemaphoreContract implements RunsOn.Processes {}
}
