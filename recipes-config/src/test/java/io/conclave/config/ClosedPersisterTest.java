package io.conclave.config;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A persister is closed at the moment when its next attempt begins. */
class ClosedPersisterTest {
    private static final int THREADS = 4;

    private final ExecutorService listeners = Executors.newFixedThreadPool(THREADS);
    private final CompletableFuture<Void> armed = new CompletableFuture<>();

    @AfterEach
    void stop() {
        listeners.shutdownNow();
    }

    /** What was given to the listener threads before is done when they all meet. */
    private void awaitListeners() {
        CyclicBarrier meeting = new CyclicBarrier(THREADS + 1);
        for (int i = 0; i < THREADS; i++) {
            listeners.execute(() -> meet(meeting));
        }
        meet(meeting);
    }

    private static void meet(CyclicBarrier meeting) {
        try {
            meeting.await(120, SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void persisterThatIsClosedBeforeItsFirstLookIsNeverReady() throws Exception {
        try (Coordinator coordinator = Coordinator.builder("memory:" + UUID.randomUUID())
                .timeSource(new LateTimers())
                .listenerExecutor(listeners)
                .connect()) {
            SequencePersister persister = SequencePersister.start(coordinator, "/ids", new FailingReservation(), 100);
            armed.get(120, SECONDS);
            awaitListeners();
            persister.close();
            ExecutionException failure = assertThrows(
                    ExecutionException.class, () -> persister.ready().get(120, SECONDS));
            assertEquals(ClosedException.class, failure.getCause().getClass(), failure::toString);
        }
    }

    private static final class FailingReservation implements Reservation {
        @Override
        public long upperBound() throws IOException {
            throw new IOException("thrown by a test");
        }

        @Override
        public void raise(long bound) throws IOException {
            throw new IOException("thrown by a test");
        }
    }

    /** The timer of the persister fires when it is cancelled, and its attempt is done before that returns. */
    private final class LateTimers implements TimeSource {
        private final TimeSource machine = TimeSource.system();

        @Override
        public long monotonicNanos() {
            return machine.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return machine.wallMillis();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            boolean isPersisters = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                    .walk(frames -> frames.anyMatch(frame -> frame.getDeclaringClass() == SequencePersister.class
                            && frame.getMethodName().equals("later")));
            if (!isPersisters) {
                return machine.schedule(delay, task);
            }
            armed.complete(null);
            return () -> {
                task.run();
                awaitListeners();
            };
        }
    }
}
