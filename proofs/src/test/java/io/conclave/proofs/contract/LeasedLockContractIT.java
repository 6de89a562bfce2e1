package io.conclave.proofs.contract;

import io.conclave.locks.LeasedLockContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of a lock with a lease on every backend. */
class LeasedLockContractIT {
    @Nested
    class Embedded extends LeasedLockContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends LeasedLockContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends LeasedLockContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends LeasedLockContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends LeasedLockContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends LeasedLockContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends LeasedLockContract implements RunsOn.Processes {}
}
