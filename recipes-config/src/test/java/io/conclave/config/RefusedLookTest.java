package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reply of a write is lost, and the look what became of it is refused: that says nothing of the write. */
class RefusedLookTest {
    private static final Duration STEP = Duration.ofMillis(100);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .timeSource(clock)
            .connect();

    @AfterEach
    void close() {
        faults.clear();
        coordinator.close();
        MemoryStore.forget(store);
    }

    /** The next write takes effect and its reply is lost; so many looks behind it are refused. */
    private <T> CompletableFuture<T> write(
            Supplier<CompletableFuture<T>> write, RequestFate fate, RefusalReason reason, int looks) {
        AtomicInteger left = new AtomicInteger();
        faults.refuse(request -> request.isRead() && left.getAndUpdate(one -> Math.max(0, one - 1)) > 0, reason);
        faults.onNext(
                request -> {
                    if (!request.isRead()) {
                        left.set(looks);
                    }
                    return !request.isRead();
                },
                fate);
        CompletableFuture<T> outcome = write.get();
        clock.advanceUntil(STEP, outcome::isDone);
        return outcome;
    }

    private <T> T isFoundOut(Supplier<CompletableFuture<T>> write) {
        return write(write, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3)
                .join();
    }

    private void isUnknown(Supplier<CompletableFuture<?>> write) {
        CompletableFuture<?> outcome = write(
                () -> write.get().thenApply(any -> any),
                RequestFate.DROP_AFTER,
                RefusalReason.AUTH_FAILED,
                Integer.MAX_VALUE);
        Throwable failure =
                assertThrows(CompletionException.class, outcome::join).getCause();
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
    }

    private SharedCounter counter() {
        return SharedCounter.at(coordinator, "/counter");
    }

    private SharedValue<String> value() {
        return SharedValue.at(coordinator, "/value", DataCodec.TEXT);
    }

    @Test
    void additionIsLookedForAgain() throws Exception {
        counter().add(1);
        assertEquals(2, isFoundOut(() -> counter().addAsync(1)));
        assertEquals(2, counter().get());
    }

    @Test
    void additionThatMayNotBeLookedForIsUnknown() throws Exception {
        counter().add(1);
        isUnknown(() -> counter().addAsync(1));
        assertEquals(2, counter().get());
    }

    @Test
    void creationIsLookedForAgain() throws Exception {
        assertEquals(1, isFoundOut(() -> counter().addAsync(1)));
        assertEquals(1, counter().get());
    }

    @Test
    void creationThatDidNotArriveIsSentAgain() throws Exception {
        assertEquals(
                1,
                write(() -> counter().addAsync(1), RequestFate.DROP_BEFORE, RefusalReason.LIMIT_EXCEEDED, 3)
                        .join());
        assertEquals(1, counter().get());
    }

    @Test
    void creationThatMayNotBeLookedForIsUnknown() throws Exception {
        isUnknown(() -> counter().addAsync(1));
        assertEquals(1, counter().get());
    }

    @Test
    void valueThatIsSetIsLookedForAgain() throws Exception {
        value().set("one");
        assertEquals("two", isFoundOut(() -> value().setAsync("two")).value());
    }

    @Test
    void valueThatMayNotBeLookedForIsUnknown() throws Exception {
        value().set("one");
        isUnknown(() -> value().setAsync("two"));
        assertEquals("two", value().get().orElseThrow().value());
    }

    @Test
    void publicationThatMayNotBeLookedForIsUnknown() throws Exception {
        Configuration configuration = Configuration.at(coordinator, "/config");
        ConfigKey<String> key = ConfigKey.ofText("key");
        configuration.publish(ConfigBatch.setting(key, "one"));
        isUnknown(() -> configuration.publishAsync(ConfigBatch.setting(key, "two")));
    }
}
