package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.options.GetOption;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * What {@link Load} does, asked of etcd with its Java client: clients with a connection each that stay open, and rounds
 * in which each of them keeps a number of requests under way. Gets are serializable ones, which a server answers by
 * itself, as ours and ZooKeeper's do.
 */
final class EtcdLoad implements AutoCloseable {
    private static final int KEYS_OF_A_CLIENT = 20;
    private static final int WAIT_SECONDS = 60;
    private static final ByteSequence DATA = ByteSequence.from(Workload.DATA);
    private static final GetOption LOCAL =
            GetOption.builder().withSerializable(true).build();

    private final TimeSource time;
    private final Supplier<Duration> processorTime;
    private final List<OneClient> clients = new ArrayList<>();

    /** Opens the clients and puts their keys. Blocks. */
    EtcdLoad(String endpoint, int count, Supplier<Duration> processorTime, TimeSource time) {
        this.time = time;
        this.processorTime = processorTime;
        for (int i = 0; i < count; i++) {
            OneClient client =
                    new OneClient(Client.builder().endpoints(endpoint).build(), "/benchmark/s" + i + "/n");
            clients.add(client);
            client.keys.forEach(key -> client.kv.put(key, DATA).join());
        }
    }

    /** Runs one round. Blocks for its duration, and until all of its requests are answered. */
    Measurement run(Shape shape, Workload workload, Duration duration) {
        List<OneClient> used = clients.subList(0, shape.sessions());
        Round round = new Round(workload, new CountDownLatch(shape.sessions() * shape.outstanding()));
        Duration processorBefore = processorTime.get();
        long startNanos = time.monotonicNanos();
        for (OneClient client : used) {
            client.latencies.clear();
            for (int slot = 0; slot < shape.outstanding(); slot++) {
                client.ask(round);
            }
        }
        round.await(duration.toMillis());
        round.isOver = true;
        if (!round.await(TimeUnit.SECONDS.toMillis(WAIT_SECONDS))) {
            throw new BenchmarkException("etcd: waited in vain for the last answers of " + shape + " " + workload);
        }
        double seconds = (time.monotonicNanos() - startNanos) / 1e9;
        double cpuMicros = processorTime.get().minus(processorBefore).toNanos() / 1e3;
        if (round.failure.get() != null) {
            throw new BenchmarkException(
                    "etcd: a request of " + shape + " " + workload + " failed", round.failure.get());
        }
        LatencyHistogram all = new LatencyHistogram();
        used.forEach(client -> all.add(client.latencies));
        return new Measurement(
                all.total() / seconds, all.percentileMs(0.5), all.percentileMs(0.99), cpuMicros / all.total());
    }

    @Override
    public void close() {
        clients.forEach(client -> client.client.close());
    }

    private static final class Round {
        private final Workload workload;
        private final CountDownLatch unanswered;
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile boolean isOver;

        private Round(Workload workload, CountDownLatch unanswered) {
            this.workload = workload;
            this.unanswered = unanswered;
        }

        private boolean await(long waitMs) {
            try {
                return unanswered.await(waitMs, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new BenchmarkException("interrupted", e);
            }
        }
    }

    private final class OneClient {
        private final Client client;
        private final KV kv;
        private final List<ByteSequence> keys = new ArrayList<>();
        private final LatencyHistogram latencies = new LatencyHistogram(); // @GuardedBy("itself") during a round
        private long sequence; // some requests may ask for the same key: it only spreads them

        private OneClient(Client client, String prefix) {
            this.client = client;
            this.kv = client.getKVClient();
            for (int i = 0; i < KEYS_OF_A_CLIENT; i++) {
                keys.add(ByteSequence.from(prefix + i, StandardCharsets.UTF_8));
            }
        }

        private void ask(Round round) {
            ByteSequence key = keys.get((int) (sequence++ % KEYS_OF_A_CLIENT));
            long askedNanos = time.monotonicNanos();
            CompletableFuture<?> answer = round.workload == Workload.GET ? kv.get(key, LOCAL) : kv.put(key, DATA);
            answer.whenComplete((result, failed) -> {
                synchronized (latencies) {
                    latencies.record(time.monotonicNanos() - askedNanos);
                }
                if (failed != null) {
                    round.failure.compareAndSet(null, failed);
                }
                if (failed != null || round.isOver) {
                    round.unanswered.countDown();
                } else {
                    ask(round);
                }
            });
        }
    }
}
