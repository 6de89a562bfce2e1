package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.RevocationWord;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A writer hears a request to release also when its znode is about to become a reader's. */
class RevocationBeforeDowngradeTest {
    private static final String PATH = "/locks/asked";

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();

    private final ManualTimeSource clock = new ManualTimeSource();

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .timeSource(clock)
                .connect();
    }

    @Test
    void wordThatIsWrittenBeforeADowngradeIsHeardByTheWriter() throws Exception {
        wordIsHeardByTheWriter(Duration.ofMillis(10));
    }

    @Test
    void wordThatIsWrittenInTheFirstMomentIsHeardByTheWriter() throws Exception {
        wordIsHeardByTheWriter(Duration.ZERO);
    }

    private void wordIsHeardByTheWriter(Duration held) throws Exception {
        try (Coordinator coordinator = connect();
                Coordinator revoker = connect()) {
            WriteGrant writing = SharedLock.at(coordinator, PATH).writeLock().acquire();
            long session = RecipeAccess.session(coordinator).id();
            coordinator.execute(GetData.of(writing.path())); // behind which the hold has begun
            clock.advance(held);
            await().until(() -> held.isZero() || faults.watchCount(session) == 1);
            faults.holdReplies(session);
            revoker.execute(SetData.of(writing.path(), RevocationWord.bytes()));
            CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
            assertFalse(writing.revocationRequested().toCompletableFuture().isDone());
            faults.releaseReplies(session);
            ReadGrant reading = downgrade.get(120, SECONDS);
            writing.revocationRequested().toCompletableFuture().get(120, SECONDS);
            assertTrue(reading.isHeld());
            assertFalse(
                    reading.revocationRequested().toCompletableFuture().isDone(),
                    "the revoker was told that the writer had given up");
        } finally {
            MemoryStore.forget(store);
        }
    }
}
