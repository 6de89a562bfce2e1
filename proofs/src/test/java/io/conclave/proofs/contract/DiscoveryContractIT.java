package io.conclave.proofs.contract;

import io.conclave.discovery.DiscoveryContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of service discovery on every backend. */
class DiscoveryContractIT {
    @Nested
    class Embedded extends DiscoveryContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends DiscoveryContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends DiscoveryContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends DiscoveryContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends DiscoveryContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends DiscoveryContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends DiscoveryContract implements RunsOn.Processes {}
}
