package io.conclave.proofs.contract;

import io.conclave.discovery.NameServiceContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of names on every backend. */
class NameServiceContractIT {
    @Nested
    class Embedded extends NameServiceContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends NameServiceContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends NameServiceContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends NameServiceContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends NameServiceContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends NameServiceContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends NameServiceContract implements RunsOn.Processes {}
}
