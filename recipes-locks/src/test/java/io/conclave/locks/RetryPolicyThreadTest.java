package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.failsafe.RetryPolicy;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A retry policy is the application's: it is called on listener threads. */
class RetryPolicyThreadTest {
    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();

    @Test
    void policyIsAskedOffTheDispatcher() throws Exception {
        AtomicReference<Coordinator> coordinator = new AtomicReference<>();
        List<Boolean> onDispatcher = Collections.synchronizedList(new ArrayList<>());
        RetryPolicy<Object> policy = RetryPolicy.builder()
                .handleIf(failure -> {
                    onDispatcher.add(RecipeAccess.session(coordinator.get()).isDispatcherThread());
                    return failure instanceof OutcomeUnknownException;
                })
                .withMaxRetries(5)
                .withDelay(Duration.ofMillis(1))
                .build();
        try (Coordinator connected =
                Coordinator.builder("memory:" + store).retryPolicy(policy).connect()) {
            coordinator.set(connected);
            for (int i = 0; i < 3; i++) {
                faults.onNext(GetData.class::isInstance, RequestFate.DROP_BEFORE);
            }
            connected.execute(GetData.of(NodePath.ROOT));
            assertEquals(List.of(false, false, false), onDispatcher);
        } finally {
            MemoryStore.forget(store);
        }
    }
}
