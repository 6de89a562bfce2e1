package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Curator 5.9, as it is, on our server. */
class CuratorRecipesIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static StandaloneConclave server;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private CuratorFramework one;
    private CuratorFramework two;

    @BeforeAll
    static void startServer() {
        server = new StandaloneConclave();
    }

    @AfterAll
    static void closeServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        one = curator();
        two = curator();
    }

    private static CuratorFramework curator() {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.hostPort(), 10_000, 10_000, new RetryNTimes(50, 100));
        curator.start();
        return curator;
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        one.close();
        two.close();
    }

    @Test
    void mutex() throws Exception {
        InterProcessMutex first = new InterProcessMutex(one, "/mutex");
        InterProcessMutex second = new InterProcessMutex(two, "/mutex");
        first.acquire();
        first.acquire();
        assertFalse(second.acquire(100, MILLISECONDS));
        CompletableFuture<Boolean> waiting = inBackground(() -> second.acquire(20, SECONDS));
        first.release();
        assertFalse(waiting.isDone());
        first.release();
        assertTrue(waiting.get(120, SECONDS));
    }

    @Test
    void readWriteLock() throws Exception {
        InterProcessReadWriteLock first = new InterProcessReadWriteLock(one, "/read-write");
        InterProcessReadWriteLock second = new InterProcessReadWriteLock(two, "/read-write");
        first.readLock().acquire();
        assertTrue(second.readLock().acquire(20, SECONDS));
        second.readLock().release();
        assertFalse(second.writeLock().acquire(100, MILLISECONDS));
        first.readLock().release();
        assertTrue(second.writeLock().acquire(20, SECONDS));
        assertFalse(first.readLock().acquire(100, MILLISECONDS));
        second.writeLock().release();
        assertTrue(first.readLock().acquire(20, SECONDS));
        first.readLock().release();
    }

    @Test
    void semaphore() throws Exception {
        InterProcessSemaphoreV2 first = new InterProcessSemaphoreV2(one, "/semaphore", 2);
        InterProcessSemaphoreV2 second = new InterProcessSemaphoreV2(two, "/semaphore", 2);
        Lease lease = first.acquire(20, SECONDS);
        Lease other = second.acquire(20, SECONDS);
        assertNull(first.acquire(100, MILLISECONDS));
        CompletableFuture<Lease> waiting = inBackground(() -> first.acquire(20, SECONDS));
        second.returnLease(other);
        first.returnLease(waiting.get(120, SECONDS));
        first.returnLease(lease);
    }

    @Test
    void leaderLatch() throws Exception {
        LeaderLatch first = new LeaderLatch(one, "/leader", "first");
        first.start();
        assertTrue(first.await(120, SECONDS));
        try (LeaderLatch second = new LeaderLatch(two, "/leader", "second")) {
            second.start();
            await().atMost(PATIENCE).until(() -> second.getParticipants().size() == 2);
            assertFalse(second.hasLeadership());
            first.close();
            assertTrue(second.await(120, SECONDS));
        }
    }

    @Test
    void persistentNode() throws Exception {
        try (PersistentNode node =
                new PersistentNode(one, CreateMode.EPHEMERAL, false, "/persistent/node", bytes("data"))) {
            node.start();
            assertTrue(node.waitForInitialCreate(20, SECONDS));
            two.delete().forPath("/persistent/node");
            await().atMost(PATIENCE).until(() -> two.checkExists().forPath("/persistent/node") != null);
            assertEquals("data", text(two.getData().forPath("/persistent/node")));
        }
        assertNull(two.checkExists().forPath("/persistent/node"));
    }

    @Test
    @SuppressWarnings("deprecation") // TreeCache is what many an application still uses
    void caches() throws Exception {
        one.create().creatingParentsIfNeeded().forPath("/cache/a", bytes("1"));
        try (CuratorCache cache = CuratorCache.build(two, "/cache");
                TreeCache tree = new TreeCache(two, "/cache")) {
            cache.start();
            tree.start();
            awaitCached(cache, tree, "/cache/a", "1");
            one.setData().forPath("/cache/a", bytes("2"));
            one.create().creatingParentsIfNeeded().forPath("/cache/b/c/d", bytes("3"));
            awaitCached(cache, tree, "/cache/a", "2");
            awaitCached(cache, tree, "/cache/b/c/d", "3");
            server.stop();
            server.start();
            one.delete().deletingChildrenIfNeeded().forPath("/cache/b");
            one.setData().forPath("/cache/a", bytes("4"));
            awaitCached(cache, tree, "/cache/a", "4");
            await().atMost(PATIENCE)
                    .until(() -> cache.get("/cache/b").isEmpty() && tree.getCurrentData("/cache/b") == null);
        }
    }

    @SuppressWarnings("deprecation")
    private static void awaitCached(CuratorCache cache, TreeCache tree, String path, String data) {
        await().atMost(PATIENCE)
                .until(() -> cache.get(path)
                                .filter(node -> text(node.getData()).equals(data))
                                .isPresent()
                        && tree.getCurrentData(path) != null
                        && text(tree.getCurrentData(path).getData()).equals(data));
    }

    @Test
    void barrierAndCounter() throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(one, "/barrier");
        barrier.setBarrier();
        CompletableFuture<Boolean> waiting =
                inBackground(() -> new DistributedBarrier(two, "/barrier").waitOnBarrier(20, SECONDS));
        DistributedAtomicLong counter = new DistributedAtomicLong(one, "/counter", new RetryOneTime(10));
        assertEquals(5, counter.add(5L).postValue());
        assertEquals(6, counter.increment().postValue());
        assertFalse(waiting.isDone());
        barrier.removeBarrier();
        assertTrue(waiting.get(120, SECONDS));
    }

    @Test
    void transactionAndContainers() throws Exception {
        one.createContainers("/container");
        one.create().forPath("/container/a");
        one.transaction()
                .forOperations(
                        one.transactionOp().check().forPath("/container/a"),
                        one.transactionOp().create().forPath("/container/b"),
                        one.transactionOp().delete().forPath("/container/a"));
        assertEquals(java.util.List.of("b"), two.getChildren().forPath("/container"));
        one.delete().guaranteed().forPath("/container/b");
        await().atMost(PATIENCE).until(() -> two.checkExists().forPath("/container") == null);
    }

    private <R> CompletableFuture<R> inBackground(java.util.concurrent.Callable<R> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return work.call();
                    } catch (Exception e) {
                        throw new java.util.concurrent.CompletionException(e);
                    }
                },
                threads);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
