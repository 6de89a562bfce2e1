package io.conclave.proofs.contract;

import io.conclave.locks.LockContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The mutex's contract on every backend. */
class LockContractIT {
    @Nested
    class Embedded extends LockContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends LockContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends LockContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends LockContract implements RunsOn.Ensemble {}

    @Nested
    class EnsembleWithKills extends LockContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends LockContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends LockContract implements RunsOn.Processes {}
}
