package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that comes back empty, and is filled in the same order with other data, gives znodes the same zxids. */
class StoreBegunAnewTest {
    private final String name = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final MemoryStore store = MemoryStore.named(name, clock); // nothing expires by itself
    private final Coordinator observer = Coordinator.connect("memory:" + name);

    @AfterEach
    void close() {
        observer.close();
        MemoryStore.forget(name);
    }

    private Versioned<String> fill(String text) throws InterruptedException {
        try (Coordinator script = Coordinator.connect("memory:" + name)) {
            return value(script).set(text);
        }
    }

    private static SharedValue<String> value(Coordinator coordinator) {
        return SharedValue.at(coordinator, "/limit", DataCodec.TEXT);
    }

    @Test
    void observerHearsOfOtherDataUnderTheZxidsOfBefore() throws Exception {
        Versioned<String> before = fill("before");
        List<Optional<String>> told = new CopyOnWriteArrayList<>();
        value(observer).observe(found -> told.add(found.map(Versioned::value)));
        await().until(() -> told.equals(List.of(Optional.of("before"))));
        long session = RecipeAccess.session(observer).id();
        store.faults().suspend(session);
        store.faults().beginAnew();
        clock.advance(Duration.ofSeconds(1));
        Versioned<String> after = fill("after");
        assertEquals(before.zxid(), after.zxid());
        store.faults().restore(session);
        await().until(() -> told.contains(Optional.of("after")));
    }
}
