package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.RevocationWord;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
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

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .connect();
    }

    @Test
    void wordThatIsWrittenBeforeADowngradeIsHeardByTheWriter() throws Exception {
        try (Coordinator coordinator = connect();
                Coordinator revoker = connect()) {
            WriteGrant writing = SharedLock.at(coordinator, PATH).writeLock().acquire();
            coordinator.execute(GetData.of(writing.path())); // behind which the own watch is set
            long session = RecipeAccess.session(coordinator).id();
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
