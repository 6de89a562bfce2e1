package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which waiters a release wakes, counted in requests at the store: no other reads the line. */
class SharedLockRequestsTest {
    private static final String PATH = "/locks/counted";
    /** Own znode and line, by each waiter that is woken. */
    private static final int A_LOOK = 2;

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private Coordinator coordinator;
    private SharedLock lock;

    @BeforeEach
    void connect() {
        coordinator = store.builder()
                .sessionTimeout(Duration.ofHours(1)) // nobody keeps it alive
                .timeSource(new ManualTimeSource()) // so no timer sends a request that is counted
                .connect();
        lock = SharedLock.at(coordinator, PATH);
    }

    @AfterEach
    void close() {
        coordinator.close();
    }

    private List<CompletableFuture<ReadGrant>> readers(int count, int before) throws Exception {
        List<CompletableFuture<ReadGrant>> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            readers.add(lock.readLock().acquireAsync());
        }
        awaitInLine(before + count);
        return readers;
    }

    private void awaitInLine(int count) {
        await().until(() ->
                coordinator.execute(GetChildren.of(NodePath.of(PATH))).names().size() == count);
    }

    /** All that wait have set their watches: own znode and predecessor. */
    private void awaitWatches(int count) {
        long session = RecipeAccess.session(coordinator).id();
        await().until(() -> faults.watchCount(session) == count);
    }

    @Test
    void writersReleaseWakesOnlyTheReadersUpToTheNextWriter() throws Exception {
        WriteGrant first = lock.writeLock().acquire();
        List<CompletableFuture<ReadGrant>> let = readers(20, 1);
        CompletableFuture<WriteGrant> next = lock.writeLock().acquireAsync();
        awaitInLine(22);
        List<CompletableFuture<ReadGrant>> behind = readers(20, 22);
        awaitWatches(41 * 2);
        long before = faults.requestCount();
        first.close();
        List<ReadGrant> reading = new ArrayList<>();
        for (CompletableFuture<ReadGrant> reader : let) {
            reading.add(reader.get(120, SECONDS));
        }
        assertLooks(faults.requestCount() - before - 1);
        for (ReadGrant reader : reading.subList(0, 19)) {
            long perRelease = faults.requestCount();
            reader.close();
            assertEquals(1, faults.requestCount() - perRelease, "no contender waits for this reader");
        }
        assertFalse(next.isDone());
        before = faults.requestCount();
        reading.get(19).close();
        WriteGrant writing = next.get(120, SECONDS);
        assertEquals(1 + A_LOOK, faults.requestCount() - before, "the last reader's release wakes the writer alone");
        assertTrue(behind.stream().noneMatch(CompletableFuture::isDone));
        before = faults.requestCount();
        ReadGrant downgraded = writing.downgrade();
        for (CompletableFuture<ReadGrant> reader : behind) {
            reader.get(120, SECONDS).close();
        }
        // the exchange and the watch on its znode; each reader's look and release
        assertLooks(faults.requestCount() - before - 2 - 20);
        downgraded.close();
    }

    /**
     * Each of 20 readers reads its own znode; the line is read for each of them at most, and shared by those that ask
     * together.
     */
    private static void assertLooks(long requests) {
        assertTrue(requests > 20 && requests <= 20 * A_LOOK, "looks of 20 readers: " + requests);
    }
}
