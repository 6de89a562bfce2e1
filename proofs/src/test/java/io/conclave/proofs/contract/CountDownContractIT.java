package io.conclave.proofs.contract;

import io.conclave.barriers.CountDownContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The count-down's contract on every backend. */
class CountDownContractIT {
    @Nested
    class Embedded extends CountDownContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends CountDownContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends CountDownContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends CountDownContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends CountDownContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends CountDownContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends CountDownContract implements RunsOn.Processes {}
}
