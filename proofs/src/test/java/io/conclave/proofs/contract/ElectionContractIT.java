package io.conclave.proofs.contract;

import io.conclave.election.ElectionContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The election's contract on every backend. */
class ElectionContractIT {
    @Nested
    class Embedded extends ElectionContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends ElectionContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends ElectionContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends ElectionContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends ElectionContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends ElectionContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends ElectionContract implements RunsOn.Processes {}
}
