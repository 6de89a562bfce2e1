package io.conclave.spring.integration;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;

/** A store in memory whose sessions live long, and what breaks it. */
abstract class SpringIntegrationFixture extends RecipeFixture {
    private final String store = UUID.randomUUID().toString();
    final Faults faults = memoryStore().faults();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @Override
    public Duration sessionTimeout() {
        return Duration.ofMinutes(1);
    }

    final long sessionOf(Coordinator coordinator) {
        return RecipeAccess.session(coordinator).id();
    }

    /** The server ends the coordinator's session; returns when it has another one. */
    final void expire(Coordinator coordinator) {
        long lost = sessionOf(coordinator);
        faults.expire(lost);
        await().until(() -> sessionOf(coordinator) != lost && sessionOf(coordinator) != 0);
    }

    @AfterEach
    final void forgetStore() {
        faults.clear();
        MemoryStore.forget(store);
    }
}
