package io.conclave.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.ConnectException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The first session is lost before it has made the coordinator's namespace. */
class LostWhileConnectingTest {
    private static final Duration STEP = Duration.ofSeconds(1);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store)
                .namespace("/app/one")
                .timeSource(clock)
                .sessionTimeout(Duration.ofMinutes(1))
                .connectTimeout(Duration.ofSeconds(30));
    }

    @ParameterizedTest
    @EnumSource(
            value = RequestFate.class,
            names = {"EXPIRE_BEFORE", "EXPIRE_AFTER"})
    void theNextSessionMakesIt(RequestFate fate) throws Exception {
        faults.onNext(Create.class::isInstance, fate);
        try (Coordinator coordinator = builder().connect()) {
            coordinator.execute(Create.of(NodePath.of("/a")));
        }
        try (Coordinator operator = Coordinator.connect("memory:" + store)) {
            assertTrue(operator.execute(Exists.of(NodePath.of("/app/one/a"))).isPresent());
        }
    }

    @Test
    void theNextSessionHasUntilTheLimit() {
        faults.intercept((session, request, index) -> {
            faults.keepAway(clock);
            return RequestFate.EXPIRE_BEFORE;
        });
        CompletableFuture<Coordinator> connecting = builder().connectAsync();
        clock.advanceUntil(STEP, connecting::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> connecting.get(120, SECONDS));
        assertInstanceOf(ConnectException.class, failure.getCause());
        assertTrue(failure.getCause().getMessage().startsWith("No connection to"), failure::getMessage);
    }
}
