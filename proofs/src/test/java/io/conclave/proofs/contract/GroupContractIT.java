package io.conclave.proofs.contract;

import io.conclave.membership.GroupContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The group's contract on every backend. */
class GroupContractIT {
    @Nested
    class Embedded extends GroupContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends GroupContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends GroupContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends GroupContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends GroupContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends GroupContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends GroupContract implements RunsOn.Processes {}
}
