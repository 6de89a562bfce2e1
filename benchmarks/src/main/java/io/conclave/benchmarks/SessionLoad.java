package io.conclave.benchmarks;

import io.conclave.benchmarks.Workload.SessionNodes;
import io.conclave.spi.BackendSession;
import io.conclave.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The part of one session in a round. What it counts belongs to the session's dispatcher, and is read by others when
 * the round's latch has been counted down.
 */
final class SessionLoad {
    private final BackendSession session;
    private final SessionNodes nodes;
    private final TimeSource time;
    private final LatencyHistogram latencies = new LatencyHistogram();
    private long sequence;
    private @Nullable Throwable failure;
    private volatile boolean running;

    SessionLoad(BackendSession session, SessionNodes nodes, TimeSource time) {
        this.session = session;
        this.nodes = nodes;
        this.time = time;
    }

    /**
     * Begins to ask. Never blocks. Each of the {@code outstanding} slots counts {@code answered} down when it stops;
     * the first answer, or the first failure, counts {@code measured} down.
     */
    void begin(
            Workload workload,
            int outstanding,
            CountDownLatch answered,
            CountDownLatch measured,
            CountDownLatch failed) {
        running = true;
        session.dispatcher().execute(() -> {
            latencies.clear();
            failure = null;
            for (int i = 0; i < outstanding; i++) {
                new Slot(workload, answered, measured, failed).submit();
            }
        });
    }

    /** Asks nothing more; answers to come are not counted. */
    void stop() {
        running = false;
    }

    LatencyHistogram latencies() {
        return latencies;
    }

    Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    /** A place for one request under way; on the dispatcher. */
    private final class Slot implements BiConsumer<@Nullable Object, @Nullable Throwable> {
        private final Workload workload;
        private final CountDownLatch answered;
        private final CountDownLatch measured;
        private final CountDownLatch failed;
        private long submittedNanos;

        Slot(Workload workload, CountDownLatch answered, CountDownLatch measured, CountDownLatch failed) {
            this.workload = workload;
            this.answered = answered;
            this.measured = measured;
            this.failed = failed;
        }

        void submit() {
            submittedNanos = time.monotonicNanos();
            session.submit(workload.request(nodes, sequence++)).whenComplete(this);
        }

        @Override
        public void accept(@Nullable Object answer, @Nullable Throwable problem) {
            if (problem != null) {
                failure = problem;
                failed.countDown();
                measured.countDown();
                answered.countDown();
            } else if (running) {
                latencies.record(time.monotonicNanos() - submittedNanos);
                measured.countDown();
                submit();
            } else {
                answered.countDown();
            }
        }
    }
}
