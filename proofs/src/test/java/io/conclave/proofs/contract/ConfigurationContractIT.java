package io.conclave.proofs.contract;

import io.conclave.config.ConfigurationContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of configurations, caches, shared values, counters and ids on every backend. */
class ConfigurationContractIT {
    @Nested
    class Embedded extends ConfigurationContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends ConfigurationContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends ConfigurationContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends ConfigurationContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends ConfigurationContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends ConfigurationContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends ConfigurationContract implements RunsOn.Processes {}
}
