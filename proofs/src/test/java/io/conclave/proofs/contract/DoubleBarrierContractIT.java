package io.conclave.proofs.contract;

import io.conclave.barriers.DoubleBarrierContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The double barrier's contract on every backend. */
class DoubleBarrierContractIT {
    @Nested
    class Embedded extends DoubleBarrierContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends DoubleBarrierContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends DoubleBarrierContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends DoubleBarrierContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends DoubleBarrierContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends DoubleBarrierContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends DoubleBarrierContract implements RunsOn.Processes {}
}
