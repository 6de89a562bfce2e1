package io.conclave.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBase;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/** Curator's recipes. */
final class CuratorRecipes implements RecipeClient {
    private static final int PATIENCE_SECONDS = 10;

    private final CuratorFramework framework;
    private final List<QueueBase<byte[]>> queues = new ArrayList<>();

    CuratorRecipes(String hostAndPort) {
        framework = CuratorConnection.open(hostAndPort);
    }

    @Override
    public Mutex mutex(String path, boolean awaitRelease) {
        InterProcessMutex mutex = new InterProcessMutex(framework, path);
        return () -> {
            mutex.acquire();
            return mutex::release;
        };
    }

    @Override
    public Mutex multiLock(List<String> paths) {
        InterProcessMultiLock lock = new InterProcessMultiLock(framework, paths);
        return () -> {
            lock.acquire();
            return lock::release;
        };
    }

    @Override
    public Mutex semaphore(String path, int permits) {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(framework, path, permits);
        return () -> {
            Lease lease = semaphore.acquire();
            return () -> semaphore.returnLease(lease);
        };
    }

    @Override
    public void campaign(String path, Runnable elected) {
        LeaderLatch latch = new LeaderLatch(framework, path);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                elected.run();
            }

            @Override
            public void notLeader() {
                // its session is about to be closed
            }
        });
        try {
            latch.start();
        } catch (Exception e) {
            throw new BenchmarkException("cannot campaign", e);
        }
    }

    @Override
    public Crossing doubleBarrier(String path, int participants) {
        DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(framework, path, participants);
        return new Crossing() {
            @Override
            public void enter() throws Exception {
                check(barrier.enter(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }

            @Override
            public void leave() throws Exception {
                check(barrier.leave(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }

            private void check(boolean passed) {
                if (!passed) {
                    throw new BenchmarkException("the double barrier did not open in " + PATIENCE_SECONDS + " s");
                }
            }
        };
    }

    @Override
    public Producer producer(String path, QueueCase.Kind kind) {
        if (kind == QueueCase.Kind.PRIORITY) {
            DistributedPriorityQueue<byte[]> queue = start(builder(path, null).buildPriorityQueue(0));
            return queue::put;
        }
        if (kind == QueueCase.Kind.CLAIMED) {
            DistributedQueue<byte[]> queue = start(builder(path, null).buildQueue());
            return (item, priority) -> queue.put(item);
        }
        SimpleDistributedQueue queue = new SimpleDistributedQueue(framework, path);
        return (item, priority) -> queue.offer(item);
    }

    @Override
    public void consume(String path, QueueCase queueCase, Consumer<byte[]> onItem) {
        switch (queueCase.kind()) {
            case PRIORITY -> start(builder(path, new ItemConsumer(onItem)).buildPriorityQueue(0));
            case CLAIMED ->
                start(builder(path, new ItemConsumer(onItem))
                        .lockPath(path + "-locks")
                        .executor(Executors.newFixedThreadPool(queueCase.callers(), CuratorRecipes::daemon))
                        .buildQueue());
            case FIFO -> {
                SimpleDistributedQueue queue = new SimpleDistributedQueue(framework, path);
                for (int i = 0; i < queueCase.callers(); i++) {
                    QueueLoad.startConsumer(() -> onItem.accept(queue.take()));
                }
            }
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "benchmark-consumer");
        thread.setDaemon(true);
        return thread;
    }

    private QueueBuilder<byte[]> builder(String path, @Nullable QueueConsumer<byte[]> consumer) {
        return QueueBuilder.builder(framework, consumer, new Bytes(), path);
    }

    private <Q extends QueueBase<byte[]>> Q start(Q queue) {
        try {
            queue.start();
        } catch (Exception e) {
            throw new BenchmarkException("cannot start a queue", e);
        }
        queues.add(queue);
        return queue;
    }

    private record ItemConsumer(Consumer<byte[]> onItem) implements QueueConsumer<byte[]> {
        @Override
        public void consumeMessage(byte[] item) {
            onItem.accept(item);
        }

        @Override
        public void stateChanged(CuratorFramework client, ConnectionState state) {
            // nothing is cut here
        }
    }

    private static final class Bytes implements QueueSerializer<byte[]> {
        @Override
        public byte[] serialize(byte[] item) {
            return item;
        }

        @Override
        public byte[] deserialize(byte[] bytes) {
            return bytes;
        }
    }

    @Override
    public void close() {
        queues.forEach(CuratorRecipes::close);
        framework.close();
    }

    private static void close(QueueBase<byte[]> queue) {
        try {
            queue.close();
        } catch (IOException e) {
            throw new BenchmarkException("cannot close a queue", e);
        }
    }
}
