package io.conclave.proofs.contract;

import io.conclave.barriers.LatchContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The latch's contract on every backend. */
class LatchContractIT {
    @Nested
    class Embedded extends LatchContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends LatchContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends LatchContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends LatchContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends LatchContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends LatchContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends LatchContract implements RunsOn.Processes {}
}
