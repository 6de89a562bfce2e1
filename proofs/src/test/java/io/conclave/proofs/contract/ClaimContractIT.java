package io.conclave.proofs.contract;

import io.conclave.queues.ClaimContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The queues' contract for claiming consumers on every backend. */
class ClaimContractIT {
    @Nested
    class Embedded extends ClaimContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends ClaimContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends ClaimContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends ClaimContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends ClaimContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends ClaimContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends ClaimContract implements RunsOn.Processes {}
}
