package io.conclave.proofs.contract;

import io.conclave.queues.QueueContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The FIFO queue's contract for consumers on every backend. */
class QueueContractIT {
    @Nested
    class Embedded extends QueueContract implements RunsOn.Embedded {}

    @Nested
    class Standalone extends QueueContract implements RunsOn.Standalone {}

    @Nested
    class OnApacheZooKeeper extends QueueContract implements RunsOn.OnApacheZooKeeper {}

    @Nested
    class Ensemble extends QueueContract implements RunsOn.Ensemble {}

    @Nested
    @Tag("long")
    class EnsembleWithKills extends QueueContract implements RunsOn.EnsembleWithKills {}

    @Nested
    @Tag("long")
    class ObserverWithKills extends QueueContract implements RunsOn.ObserverWithKills {}

    @Nested
    @Tag("long")
    class Processes extends QueueContract implements RunsOn.Processes {}
}
