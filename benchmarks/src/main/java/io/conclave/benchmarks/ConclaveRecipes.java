package io.conclave.benchmarks;

import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Participation;
import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.MultiLock;
import io.conclave.node.DataCodec;
import io.conclave.queues.Claim;
import io.conclave.queues.DistributedPriorityQueue;
import io.conclave.queues.DistributedQueue;
import io.conclave.queues.ItemQueue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** This project's recipes. */
final class ConclaveRecipes implements RecipeClient {
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Coordinator coordinator;

    ConclaveRecipes(String hostAndPort) {
        coordinator = Coordinator.connect("zookeeper://" + hostAndPort);
    }

    @Override
    public Mutex mutex(String path, boolean awaitRelease) {
        DistributedLock lock = DistributedLock.at(coordinator, path);
        return awaitRelease ? () -> lock.acquire()::close : () -> lock.acquire()::closeAsync;
    }

    @Override
    public Mutex multiLock(List<String> paths) {
        MultiLock lock = MultiLock.of(paths.stream()
                .map(path -> DistributedLock.at(coordinator, path))
                .toList());
        return () -> lock.acquire()::close;
    }

    @Override
    public Mutex semaphore(String path, int permits) {
        DistributedSemaphore semaphore = DistributedSemaphore.at(coordinator, path, permits);
        return () -> semaphore.acquire()::close;
    }

    @Override
    public void campaign(String path, Runnable elected) {
        LeaderElection.at(coordinator, path).campaignAsync().thenRun(elected);
    }

    @Override
    public Crossing doubleBarrier(String path, int participants) {
        DoubleBarrier barrier = DoubleBarrier.at(coordinator, path, participants);
        return new Crossing() {
            private @Nullable Participation inside;

            @Override
            public void enter() throws InterruptedException {
                inside = barrier.enter(PATIENCE);
            }

            @Override
            public void leave() throws InterruptedException {
                Objects.requireNonNull(inside, "not entered").leave(PATIENCE);
            }
        };
    }

    @Override
    public Producer producer(String path, QueueCase.Kind kind) {
        if (kind == QueueCase.Kind.PRIORITY) {
            return DistributedPriorityQueue.at(coordinator, path, DataCodec.BYTES)::put;
        }
        DistributedQueue<byte[]> queue = DistributedQueue.at(coordinator, path, DataCodec.BYTES);
        return (item, priority) -> queue.put(item);
    }

    @Override
    public void consume(String path, QueueCase queueCase, Consumer<byte[]> onItem) {
        ItemQueue<byte[]> queue = queueCase.kind() == QueueCase.Kind.PRIORITY
                ? DistributedPriorityQueue.at(coordinator, path, DataCodec.BYTES)
                : DistributedQueue.at(coordinator, path, DataCodec.BYTES);
        for (int i = 0; i < queueCase.callers(); i++) {
            QueueLoad.startConsumer(
                    queueCase.kind() == QueueCase.Kind.CLAIMED
                            ? () -> work(queue.claim(), onItem)
                            : () -> onItem.accept(queue.take()));
        }
    }

    private static void work(Claim<byte[]> claim, Consumer<byte[]> onItem) throws InterruptedException {
        onItem.accept(claim.item());
        claim.acknowledge();
    }

    @Override
    public void close() {
        coordinator.close();
    }
}
