package io.conclave.proofs.contract;

import io.conclave.membership.PartitionerContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** A partitioner's contract on every backend. */
class PartitionerContractIT {
    @Nested
    class Embedded extends PartitionerContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends PartitionerContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends PartitionerContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends PartitionerContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends PartitionerContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends PartitionerContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends PartitionerContract implements RunsOn.Processes {}
}
