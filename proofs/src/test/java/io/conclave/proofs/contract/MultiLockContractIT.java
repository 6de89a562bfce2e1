package io.conclave.proofs.contract;

import io.conclave.locks.MultiLockContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The multi-lock's contract on every backend. */
class MultiLockContractIT {
    @Nested
    class Embedded extends MultiLockContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends MultiLockContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends MultiLockContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends MultiLockContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends MultiLockContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends MultiLockContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends MultiLockContract implements RunsOn.Processes {}
}
