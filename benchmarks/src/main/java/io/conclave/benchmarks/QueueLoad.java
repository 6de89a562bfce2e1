package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * A producer and some consumers at one queue, each a session of its own; so many items are in flight at most. The
 * latency is that from the call of put until a consumer has the item.
 */
final class QueueLoad implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 30;
    private static final int ITEM_BYTES = 100;
    private static final int PRIORITIES = 4;

    private final QueueCase queueCase;
    private final TimeSource time;
    private final Supplier<Duration> serverTime;
    private final List<RecipeClient> clients = new ArrayList<>();
    private final RecipeClient.Producer producer;
    private final Semaphore room;
    private final ExecutorService producers;
    private final LatencyHistogram latencies = new LatencyHistogram(); // guarded by itself

    /** What a consumer does again and again. */
    interface Step {
        /** Waits for an item and consumes it; throws once the client is closed. */
        void run() throws Exception;
    }

    /** Opens the sessions. Blocks. */
    QueueLoad(
            Library library, String hostAndPort, QueueCase queueCase, TimeSource time, Supplier<Duration> serverTime) {
        this.queueCase = queueCase;
        this.time = time;
        this.serverTime = serverTime;
        this.room = new Semaphore(queueCase.inFlight());
        this.producers = Executors.newFixedThreadPool(queueCase.callers());
        String path = "/queue-" + library.label() + "-" + queueCase.kind() + "-" + queueCase.consumers() + "-"
                + queueCase.callers();
        RecipeClient producing = library.connect(hostAndPort);
        clients.add(producing);
        this.producer = producing.producer(path, queueCase.kind());
        for (int i = 0; i < queueCase.consumers(); i++) {
            RecipeClient consuming = library.connect(hostAndPort);
            clients.add(consuming);
            consuming.consume(path, queueCase, this::onItem);
        }
    }

    /** Runs a consumer until it throws. */
    static void startConsumer(Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) {
                            step.run();
                        }
                    } catch (Exception e) {
                        // its client was closed; a consumer that fails before leaves the producer without room, which
                        // fails the round
                    }
                },
                "benchmark-consumer");
        thread.setDaemon(true);
        thread.start();
    }

    private void onItem(byte[] item) {
        long nanos = time.monotonicNanos() - ByteBuffer.wrap(item).getLong();
        synchronized (latencies) {
            latencies.record(nanos);
        }
        room.release();
    }

    /** Runs for a time, and until every item was consumed. Blocks. */
    Measurement run(Duration duration) {
        synchronized (latencies) {
            latencies.clear();
        }
        long startNanos = time.monotonicNanos();
        Duration cpuBefore = serverTime.get();
        long items = IntStream.range(0, queueCase.callers())
                .mapToObj(caller -> CompletableFuture.supplyAsync(() -> puts(startNanos, duration), producers))
                .toList()
                .stream()
                .mapToLong(CompletableFuture::join)
                .sum();
        take(queueCase.inFlight());
        double seconds = (time.monotonicNanos() - startNanos) / 1e9;
        room.release(queueCase.inFlight());
        double cpuMicros = serverTime.get().minus(cpuBefore).toNanos() / 1e3;
        synchronized (latencies) {
            return new Measurement(
                    items / seconds, latencies.percentileMs(0.5), latencies.percentileMs(0.99), cpuMicros / items);
        }
    }

    private long puts(long startNanos, Duration duration) {
        long items = 0;
        while (time.monotonicNanos() - startNanos < duration.toNanos()) {
            take(1);
            byte[] item = new byte[ITEM_BYTES];
            ByteBuffer.wrap(item).putLong(time.monotonicNanos());
            put(item, (int) (items++ % PRIORITIES));
        }
        return items;
    }

    private void put(byte[] item, int priority) {
        try {
            producer.put(item, priority);
        } catch (Exception e) {
            throw new BenchmarkException("a put failed", e);
        }
    }

    private void take(int items) {
        try {
            if (!room.tryAcquire(items, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new BenchmarkException("nothing was consumed for " + PATIENCE_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchmarkException("interrupted", e);
        }
    }

    @Override
    public void close() {
        clients.forEach(RecipeClient::close);
        producers.shutdown();
    }
}
