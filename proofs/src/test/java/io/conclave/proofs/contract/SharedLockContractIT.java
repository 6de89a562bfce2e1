package io.conclave.proofs.contract;

import io.conclave.locks.SharedLockContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of the shared lock on every backend. */
class SharedLockContractIT {
    @Nested
    class Embedded extends SharedLockContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends SharedLockContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends SharedLockContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends SharedLockContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends SharedLockContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends SharedLockContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends SharedLockContract implements RunsOn.Processes {}
}
