package io.conclave.proofs.contract;

import io.conclave.guards.StoreGuardContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** What a guard on the coordination store promises, on every backend. */
class StoreGuardContractIT {
    @Nested
    class Embedded extends StoreGuardContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends StoreGuardContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends StoreGuardContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends StoreGuardContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends StoreGuardContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends StoreGuardContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends StoreGuardContract implements RunsOn.Processes {}
}
