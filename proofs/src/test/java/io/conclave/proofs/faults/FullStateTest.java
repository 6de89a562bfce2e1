package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimit;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.DataCodec;
import io.conclave.queues.Claim;
import io.conclave.queues.DistributedQueue;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A queue whose consumers were away has filled the state of its server. */
class FullStateTest {
    private static final String ITEM = "x".repeat(5_000);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ConclaveServer server = ConclaveServer.start(
            ServerConfig.builder()
                    .clientPort(0)
                    .clientPortAddress("127.0.0.1")
                    .clientLimit(ClientLimit.STATE_BYTES, 300_000)
                    .build(),
            TimeSource.system(),
            cause -> {});
    private final Coordinator producer = connect();
    private final Coordinator consumer = connect();

    private Coordinator connect() {
        return Coordinator.connect("conclave://127.0.0.1:" + server.clientPort().orElseThrow());
    }

    private int items;

    private static DistributedQueue<String> queue(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, "/backlog", DataCodec.TEXT);
    }

    @BeforeEach
    void fill() throws InterruptedException {
        DistributedQueue<String> queue = queue(producer);
        try {
            while (true) {
                queue.put(ITEM);
                items++;
            }
        } catch (RefusedException e) {
            assertEquals(RefusalReason.LIMIT_EXCEEDED, e.reason());
        }
        assertTrue(items > 40, items + " items");
    }

    @AfterEach
    void close() {
        consumer.close();
        producer.close();
        server.close();
    }

    @Test
    void consumersThatTakeEmptyIt() throws InterruptedException {
        for (int i = 0; i < items; i++) {
            assertEquals(ITEM, queue(consumer).take(PATIENCE).orElseThrow());
        }
        queue(producer).put(ITEM);
    }

    @Test
    void consumersThatClaimEmptyIt() throws InterruptedException {
        for (int i = 0; i < items; i++) {
            try (Claim<String> claim = queue(consumer).claim(PATIENCE).orElseThrow()) {
                claim.acknowledge();
            }
        }
        queue(producer).put(ITEM);
    }

    @Test
    void locksAreTakenMeanwhile() throws InterruptedException {
        assertThrows(RefusedException.class, () -> queue(producer).put(ITEM));
        try (LockGrant grant = DistributedLock.at(consumer, "/locks/one").acquire()) {
            assertTrue(grant.isHeld());
        }
        assertThrows(RefusedException.class, () -> queue(producer).put(ITEM));
    }
}
