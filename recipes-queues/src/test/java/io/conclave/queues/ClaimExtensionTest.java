package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.DataCodec;
import io.conclave.spi.Elapsed;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A consumer extends its claim at the moment when the claim's time is over. */
class ClaimExtensionTest {
    private final ManualTimeSource clock = new ManualTimeSource();
    private final AtomicReference<Runnable> atNextMark = new AtomicReference<>(() -> {});
    private final CountDownLatch givingBack = new CountDownLatch(1);
    private final CountDownLatch extended = new CountDownLatch(1);

    @Test
    void aClaimThatIsBeingGivenBackIsNotExtended() throws Exception {
        try (Coordinator coordinator = Coordinator.builder("memory:" + UUID.randomUUID())
                .timeSource(new MarkedClock())
                .metrics(new StoppingHook())
                .connect()) {
            DistributedQueue<String> queue =
                    DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT).withVisibility(Duration.ofSeconds(2));
            queue.put("item");
            Claim<String> claim = queue.claim();
            assertTrue(claim.extend(Duration.ofSeconds(2)), "it is held");
            CompletableFuture<Void> armed = new CompletableFuture<>();
            RecipeAccess.session(coordinator)
                    .execute(() -> armed.complete(null)); // behind the timer, which the clock then fires
            armed.get(120, SECONDS);
            atNextMark.set(() -> {
                clock.advance(Duration.ofSeconds(3));
                awaitOf(givingBack);
            });
            boolean isExtended = claim.extend(Duration.ofMinutes(1));
            extended.countDown();
            assertFalse(isExtended, "the claim ends with " + claim.ended());
            assertEquals(
                    ClaimEnd.DEADLINE_PASSED,
                    claim.ended().toCompletableFuture().get(120, SECONDS));
        }
    }

    @Test
    void aClaimThatWasGivenBackIsNotHeldAndNotExtendedFromThatMomentOn() throws Exception {
        try (Coordinator coordinator = Coordinator.connect("memory:" + UUID.randomUUID())) {
            DistributedQueue<String> queue = DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT);
            queue.put("item");
            Claim<String> claim = queue.claim();
            CountDownLatch asked = new CountDownLatch(1);
            RecipeAccess.session(coordinator).execute(() -> awaitOf(asked)); // so that nothing is sent yet
            claim.close();
            assertFalse(claim.isHeld());
            assertEquals(Duration.ZERO, claim.remaining());
            assertFalse(claim.extend(Duration.ofMinutes(1)));
            asked.countDown();
            assertEquals(ClaimEnd.RELEASED, claim.ended().get(120, SECONDS));
        }
    }

    private static void awaitOf(CountDownLatch latch) {
        try {
            assertTrue(latch.await(120, SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Holds the dispatcher where it has decided that the time is over, until the consumer has extended. */
    private final class StoppingHook implements MetricsHook {
        @Override
        public void count(String name, String subject) {
            if (name.equals("queue.return")) {
                givingBack.countDown();
                awaitOf(extended);
            }
        }
    }

    /** A clock that does something when the consumer marks the present moment, for its new term. */
    private final class MarkedClock implements TimeSource {
        private final Thread consumer = Thread.currentThread();

        @Override
        public long monotonicNanos() {
            if (Thread.currentThread() == consumer && isMark()) {
                atNextMark.getAndSet(() -> {}).run();
            }
            return clock.monotonicNanos();
        }

        private boolean isMark() {
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                    .walk(frames -> frames.anyMatch(frame -> frame.getDeclaringClass() == Elapsed.class
                            && frame.getMethodName().equals("since")));
        }

        @Override
        public long wallMillis() {
            return clock.wallMillis();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return clock.schedule(delay, task);
        }
    }
}
