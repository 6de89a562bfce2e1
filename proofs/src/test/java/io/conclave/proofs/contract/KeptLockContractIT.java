package io.conclave.proofs.contract;

import io.conclave.locks.KeptLockContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of kept locks on every backend. */
class KeptLockContractIT {
    @Nested
    class Embedded extends KeptLockContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends KeptLockContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends KeptLockContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends KeptLockContract implements RunsOn.Ensemble {}

    @Nested
    class EnsembleWithKills extends KeptLockContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends KeptLockContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends KeptLockContract implements RunsOn.Processes {}
}
