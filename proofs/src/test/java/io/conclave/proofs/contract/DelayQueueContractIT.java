package io.conclave.proofs.contract;

import io.conclave.queues.DelayQueueContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The delay queue's contract on every backend. */
class DelayQueueContractIT {
    @Nested
    class Embedded extends DelayQueueContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends DelayQueueContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends DelayQueueContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends DelayQueueContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends DelayQueueContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends DelayQueueContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends DelayQueueContract implements RunsOn.Processes {}
}
