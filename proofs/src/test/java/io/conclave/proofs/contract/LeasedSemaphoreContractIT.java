package io.conclave.proofs.contract;

import io.conclave.locks.LeasedSemaphoreContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of permits with a lease on every backend. */
class LeasedSemaphoreContractIT {
    @Nested
    class Embedded extends LeasedSemaphoreContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends LeasedSemaphoreContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends LeasedSemaphoreContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends LeasedSemaphoreContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends LeasedSemaphoreContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends LeasedSemaphoreContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends LeasedSemaphoreContract implements RunsOn.Processes {}
}
