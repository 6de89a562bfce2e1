package io.conclave.proofs.contract;

import io.conclave.barriers.BarrierContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The barrier's contract on every backend. */
class BarrierContractIT {
    @Nested
    class Embedded extends BarrierContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends BarrierContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends BarrierContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends BarrierContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends BarrierContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends BarrierContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends BarrierContract implements RunsOn.Processes {}
}
