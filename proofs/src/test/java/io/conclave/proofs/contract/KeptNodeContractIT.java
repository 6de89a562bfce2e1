package io.conclave.proofs.contract;

import io.conclave.membership.KeptNodeContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** A kept znode's contract on every backend. */
class KeptNodeContractIT {
    @Nested
    class Embedded extends KeptNodeContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends KeptNodeContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends KeptNodeContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends KeptNodeContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends KeptNodeContract implements RunsOn.EnsembleWithKills {}

    @Nested
    class ObserverWithKills extends KeptNodeContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends KeptNodeContract implements RunsOn.Processes {}
}
