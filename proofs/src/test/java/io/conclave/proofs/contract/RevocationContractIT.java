package io.conclave.proofs.contract;

import io.conclave.locks.RevocationContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of the revocation on every backend. */
class RevocationContractIT {
    @Nested
    class Embedded extends RevocationContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends RevocationContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends RevocationContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends RevocationContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends RevocationContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends RevocationContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends RevocationContract implements RunsOn.Processes {}
}
