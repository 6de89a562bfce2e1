package io.conclave.locks;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.request.Request;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What permits cost at the store, counted in writes: two to have them, and one to give them back. */
class SemaphoreRequestsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String PATH = "/semaphores/counted";
    /** The place in line, and the transaction that turns it into leases. */
    private static final List<String> TWO_WRITES = List.of("Create", "Multi");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final List<String> writes = Collections.synchronizedList(new ArrayList<>());
    private Coordinator coordinator;

    @BeforeEach
    void connect() {
        coordinator = store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
    }

    private void count() {
        faults.intercept((session, request, index) -> {
            if (isWrite(request)) {
                writes.add(request.getClass().getSimpleName());
            }
            return RequestFate.PROCEED;
        });
    }

    private static boolean isWrite(Request<?> request) {
        return switch (request.getClass().getSimpleName()) {
            case "GetData", "GetChildren", "Exists", "Sync" -> false;
            default -> true;
        };
    }

    private List<String> written() {
        List<String> all = List.copyOf(writes);
        writes.clear();
        return all;
    }

    @Test
    void acquireOfOnePermitOrOfManyIsTwoWrites() throws Exception {
        for (DistributedSemaphore semaphore : List.of(
                DistributedSemaphore.at(coordinator, PATH, 5),
                DistributedSemaphore.adjustable(coordinator, PATH + "/adjustable", 5))) {
            semaphore.acquire().close(); // makes the parents
            count();
            for (int permits : List.of(1, 5)) {
                PermitGrant grant = semaphore.acquire(permits, PATIENCE);
                assertEquals(TWO_WRITES, written());
                grant.close();
                assertEquals(List.of(permits == 1 ? "Delete" : "Multi"), written());
            }
            faults.clear();
        }
    }

    @Test
    void permitThatIsWaitedForIsTwoWritesAsWell() throws Exception {
        DistributedSemaphore semaphore = DistributedSemaphore.at(coordinator, PATH, 1);
        PermitGrant held = semaphore.acquire();
        count();
        CompletableFuture<PermitGrant> waiting = semaphore.acquireAsync(1);
        await().until(() -> semaphore.waiters().size() == 1);
        assertEquals(List.of("Create"), written());
        held.close();
        waiting.get(120, TimeUnit.SECONDS).close();
        assertEquals(List.of("Delete", "Multi", "Delete"), written(), "a release, the exchange, a release");
    }
}
