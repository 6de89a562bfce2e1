package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A call that loses every race goes on as long as its caller waits for it, and no longer. */
class AttemptsTest {
    private static final Duration LONGER_THAN_A_PAUSE = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MANY = 50;
    private static final ConfigKey<Long> KEY = ConfigKey.ofLong("key");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicInteger attempts = new AtomicInteger();
    private volatile Callable<?> beforeEachWrite = () -> "nothing";
    private Coordinator coordinator;
    private Coordinator rival;

    @BeforeEach
    void connect() {
        store.faults().plant(clock, this::outrun);
        coordinator = store.connect(clock);
        rival = store.connect(new ManualTimeSource());
    }

    /** Another process writes before each write. */
    private BackendSession outrun(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                if (!request.isRead()) {
                    outrun();
                }
                return super.submit(request);
            }
        };
    }

    private void outrun() {
        try {
            beforeEachWrite.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        attempts.incrementAndGet();
    }

    private SharedValue<Long> value(Coordinator of) {
        return SharedValue.at(of, "/value", DataCodec.LONG);
    }

    private static Configuration configuration(Coordinator of) {
        return Configuration.at(of, "/config");
    }

    private void outrunUpdates() throws InterruptedException {
        value(rival).set(0L);
        beforeEachWrite = () -> value(rival).update(present -> present.orElseThrow() + 1);
    }

    private void outrunPublications() throws InterruptedException {
        configuration(rival).publish(ConfigBatch.setting(KEY, 0L));
        beforeEachWrite = () -> configuration(rival).publish(ConfigBatch.setting(KEY, 1L));
    }

    private void outrunReservations() throws InterruptedException {
        ids(rival).next();
        beforeEachWrite = () -> ids(rival).next();
    }

    private void outrunAdditions() throws InterruptedException {
        SharedCounter.at(rival, "/counter").add(1);
        beforeEachWrite = () -> SharedCounter.at(rival, "/counter").add(1);
    }

    private static UniqueIds ids(Coordinator of) {
        return UniqueIds.at(of, "/ids").withBlockSize(1);
    }

    @Test
    void noUpdateIsTriedAgainAfterACancellation() throws Exception {
        outrunUpdates();
        noAttemptFollowsACancellation(() -> value(coordinator).updateAsync(present -> -1L));
    }

    @Test
    void noPublicationIsTriedAgainAfterACancellation() throws Exception {
        outrunPublications();
        noAttemptFollowsACancellation(() -> configuration(coordinator).publishAsync(ConfigBatch.setting(KEY, -1L)));
    }

    @Test
    void noReservationIsTriedAgainAfterACancellation() throws Exception {
        outrunReservations();
        noAttemptFollowsACancellation(() -> ids(coordinator).nextAsync());
        beforeEachWrite = () -> "nothing";
        long last = ids(rival).next();
        assertTrue(ids(coordinator).next() > last);
    }

    @Test
    void noAdditionIsTriedAgainAfterACancellation() throws Exception {
        outrunAdditions();
        noAttemptFollowsACancellation(
                () -> SharedCounter.at(coordinator, "/counter").addAsync(1000));
        assertTrue(SharedCounter.at(rival, "/counter").get() < 1000);
    }

    @Test
    void noUpdateIsTriedAgainAfterAnInterrupt() throws Exception {
        outrunUpdates();
        noAttemptFollowsAnInterrupt(() -> value(coordinator).update(present -> -1L));
    }

    @Test
    void noPublicationIsTriedAgainAfterAnInterrupt() throws Exception {
        outrunPublications();
        noAttemptFollowsAnInterrupt(() -> configuration(coordinator).publish(ConfigBatch.setting(KEY, -1L)));
    }

    @Test
    void noReservationIsTriedAgainAfterAnInterrupt() throws Exception {
        outrunReservations();
        noAttemptFollowsAnInterrupt(() -> ids(coordinator).next());
    }

    @Test
    void noReservationIsTriedAgainAfterATimeout() throws Exception {
        outrunReservations();
        CompletableFuture<Long> call = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                call.complete(ids(coordinator).next(LONGER_THAN_A_PAUSE.multipliedBy(MANY)));
            } catch (InterruptedException | RuntimeException e) {
                call.completeExceptionally(e);
            }
        });
        caller.start();
        clock.advanceUntil(LONGER_THAN_A_PAUSE, call::isCompletedExceptionally);
        assertNoMoreAttempts();
    }

    private void noAttemptFollowsACancellation(Supplier<CompletableFuture<?>> begin) throws Exception {
        CompletableFuture<?> call = begin.get();
        clock.advanceUntil(LONGER_THAN_A_PAUSE, () -> attempts.get() >= 5);
        call.cancel(true);
        assertNoMoreAttempts();
        assertThrows(CancellationException.class, call::join);
    }

    private void noAttemptFollowsAnInterrupt(Callable<?> call) throws Exception {
        CompletableFuture<Void> interrupted = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                call.call();
            } catch (InterruptedException e) {
                interrupted.complete(null);
            } catch (Exception e) {
                interrupted.completeExceptionally(e);
            }
        });
        caller.start();
        clock.advanceUntil(LONGER_THAN_A_PAUSE, () -> attempts.get() >= 5);
        caller.interrupt();
        interrupted.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertNoMoreAttempts();
    }

    /** But for the one that was under way. */
    private void assertNoMoreAttempts() throws InterruptedException {
        int most = attempts.get() + 1;
        for (int i = 0; i < MANY; i++) {
            clock.advance(LONGER_THAN_A_PAUSE);
            coordinator.execute(Sync.of(NodePath.ROOT));
            assertTrue(attempts.get() <= most, () -> attempts.get() + " attempts, " + most + " at most");
        }
    }

    @Test
    void publicationGoesOnForAsLongAsItsCallerWaits() throws Exception {
        outrunPublications();
        CompletableFuture<Boolean> call = configuration(coordinator).publishAsync(ConfigBatch.setting(KEY, -1L));
        clock.advanceUntil(LONGER_THAN_A_PAUSE, () -> attempts.get() > 2 * MANY);
        beforeEachWrite = () -> "nothing";
        clock.advanceUntil(LONGER_THAN_A_PAUSE, call::isDone);
        assertTrue(call.join());
        assertEquals(-1L, configuration(rival).get(KEY).orElseThrow());
    }

    @Test
    void waitForRoomThatAllCallersGiveUpLeavesNoWatch() throws Exception {
        UniqueIds ids = UniqueIds.persisted(coordinator, "/ids");
        CompletableFuture<Long> one = ids.nextAsync();
        CompletableFuture<Long> other = ids.nextAsync();
        long session = RecipeAccess.session(coordinator).id();
        await().atMost(PATIENCE).until(() -> watches(session) > 0);
        one.cancel(true);
        coordinator.execute(Sync.of(NodePath.ROOT));
        assertTrue(watches(session) > 0);
        other.cancel(true);
        await().atMost(PATIENCE).until(() -> watches(session) == 0);
    }

    private int watches(long session) {
        return store.faults().watchCount(session);
    }
}
