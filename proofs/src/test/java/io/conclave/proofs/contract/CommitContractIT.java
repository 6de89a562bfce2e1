package io.conclave.proofs.contract;

import io.conclave.commit.CommitContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The two-phase commit's contract on every backend. */
class CommitContractIT {
    @Nested
    class Embedded extends CommitContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends CommitContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends CommitContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends CommitContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends CommitContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends CommitContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends CommitContract implements RunsOn.Processes {}
}
