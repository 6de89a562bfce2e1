package io.conclave.proofs.contract;

import io.conclave.queues.PriorityQueueContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The priority queue's contract on every backend. */
class PriorityQueueContractIT {
    @Nested
    class Embedded extends PriorityQueueContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends PriorityQueueContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends PriorityQueueContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends PriorityQueueContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends PriorityQueueContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends PriorityQueueContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends PriorityQueueContract implements RunsOn.Processes {}
}
