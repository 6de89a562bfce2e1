package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of others, as they are, on an ensemble whose leader is killed: they come back with their sessions.
 * {@code -Densemble.kind=conclave} chooses whose servers.
 */
class EnsembleClientsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SESSION_MS = 20_000;
    private static final int CROWD = Integer.getInteger("ensemble.clients", 1000);

    @TempDir
    private static Path home;

    private static Ensemble ensemble;
    private Member leader;

    @BeforeAll
    static void start() {
        ensemble = Ensemble.of(EnsembleKind.chosen(), home)
                .ticks(1000, 10, 5)
                .with("maxSessionTimeout", 60_000)
                .withJvm("-Xmx256m")
                .withJvm("-XX:TieredStopAtLevel=1")
                .start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @BeforeEach
    void heal() {
        leader = ensemble.heal();
    }

    private static ZooKeeper connect(BlockingQueue<WatchedEvent> events) throws IOException {
        return new ZooKeeper(ensemble.hostPorts(), SESSION_MS, event -> {
            if (event.getType() != EventType.None) {
                events.add(event);
            }
        });
    }

    private static void awaitConnected(ZooKeeper client) {
        await().atMost(PATIENCE).until(() -> client.getState().isConnected());
    }

    @Test
    void theOfficialClientKeepsItsSessionItsEphemeralAndItsWatch() throws Exception {
        BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        try (ZooKeeper one = connect(events);
                ZooKeeper two = connect(new LinkedBlockingQueue<>())) {
            awaitConnected(one);
            long session = one.getSessionId();
            one.create("/official", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            one.create("/official/ephemeral", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            one.getData("/official", true, null);

            leader.kill();
            await().atMost(PATIENCE)
                    .ignoreException(KeeperException.ConnectionLossException.class)
                    .until(() -> two.setData("/official", new byte[1], -1).getVersion() > 0);

            WatchedEvent event = events.poll(PATIENCE.toSeconds(), SECONDS);
            assertNotNull(event, "the watch fires on the next connection");
            assertEquals(EventType.NodeDataChanged, event.getType());
            awaitConnected(one);
            assertEquals(session, one.getSessionId());
            assertEquals(session, two.exists("/official/ephemeral", false).getEphemeralOwner());
        }
    }

    @Test
    void curatorsMutexIsHeldThroughAFailOverAndThenHandedOn() throws Exception {
        try (CuratorFramework one = curator();
                CuratorFramework two = curator();
                Coordinator ours = Coordinator.builder(ensemble.connectString())
                        .sessionTimeout(Duration.ofMillis(SESSION_MS))
                        .connect()) {
            InterProcessMutex held = new InterProcessMutex(one, "/mutex");
            assertTrue(held.acquire(20, SECONDS));
            long session = one.getZookeeperClient().getZooKeeper().getSessionId();
            InterProcessMutex wanted = new InterProcessMutex(two, "/mutex");
            CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    boolean acquired = wanted.acquire(60, SECONDS);
                    wanted.release();
                    return acquired;
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });

            leader.kill();
            DistributedLock lock = DistributedLock.at(ours, "/mutex");
            await().atMost(PATIENCE).ignoreExceptions().until(() -> lock.tryAcquire()
                    .isEmpty());
            assertFalse(waiting.isDone());
            assertEquals(session, one.getZookeeperClient().getZooKeeper().getSessionId());
            held.release();
            assertTrue(waiting.get(120, SECONDS));
            try (LockGrant grant = lock.acquire(Duration.ofSeconds(20))) {
                assertTrue(grant.isHeld());
            }
        }
    }

    private static CuratorFramework curator() throws InterruptedException {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(ensemble.hostPorts(), SESSION_MS, 15_000, new RetryForever(100));
        client.start();
        assertTrue(client.blockUntilConnected(30, SECONDS));
        return client;
    }

    @Test
    void aCrowdOfOfficialClientsComesBackWithItsSessions() throws Exception {
        List<ZooKeeper> crowd = new ArrayList<>();
        try {
            for (int i = 0; i < CROWD; i++) {
                crowd.add(connect(new LinkedBlockingQueue<>()));
            }
            await().atMost(PATIENCE).until(() -> crowd.stream()
                    .allMatch(client -> client.getState().isConnected()));
            ZooKeeper first = crowd.get(0);
            first.create("/crowd", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int i = 0; i < CROWD; i++) {
                crowd.get(i)
                        .create(
                                "/crowd/" + i,
                                new byte[0],
                                Ids.OPEN_ACL_UNSAFE,
                                CreateMode.EPHEMERAL,
                                (code, path, context, name) -> {},
                                null);
            }
            await().atMost(PATIENCE)
                    .until(() -> first.getChildren("/crowd", false).size() == CROWD);
            List<Long> sessions = crowd.stream().map(ZooKeeper::getSessionId).toList();

            long startNanos = System.nanoTime();
            leader.kill();
            Member next = ensemble.awaitLeader();
            // a request of each has an answer: its connection is a new one, or has outlived the leader
            CompletableFuture.allOf(
                            crowd.stream().map(EnsembleClientsIT::answer).toArray(CompletableFuture[]::new))
                    .get(PATIENCE.toSeconds(), SECONDS);
            System.out.println(CROWD + " official clients on " + ensemble + " had answers again "
                    + Duration.ofNanos(System.nanoTime() - startNanos).toMillis() + " ms after the leader was killed; "
                    + next + " leads");
            assertEquals(sessions, crowd.stream().map(ZooKeeper::getSessionId).toList());
            first.sync("/crowd");
            assertEquals(CROWD, first.getChildren("/crowd", false).size());
        } finally {
            closeAll(crowd);
        }
    }

    /** Completes when a request has an answer, and is sent again as long as the connection is lost. */
    private static CompletableFuture<Void> answer(ZooKeeper client) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        askAgain(client, answered);
        return answered;
    }

    private static void askAgain(ZooKeeper client, CompletableFuture<Void> answered) {
        client.exists(
                "/crowd",
                false,
                (code, path, context, stat) -> {
                    if (code == Code.CONNECTIONLOSS.intValue()) {
                        askAgain(client, answered);
                    } else if (code == Code.OK.intValue()) {
                        answered.complete(null);
                    } else {
                        answered.completeExceptionally(KeeperException.create(Code.get(code), path));
                    }
                },
                null);
    }

    /** All at once: each close waits for its answer and for its threads. */
    private static void closeAll(List<ZooKeeper> crowd) throws InterruptedException {
        ExecutorService closers = Executors.newCachedThreadPool();
        for (ZooKeeper client : crowd) {
            closers.execute(() -> {
                try {
                    client.close();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        closers.shutdown();
        assertTrue(closers.awaitTermination(PATIENCE.toSeconds(), SECONDS));
    }

    @Test
    void kazooKeepsItsSessionItsLockAndItsWatch() throws Exception {
        Process kazoo = Kazoo.start("kazoo_ensemble_check.py", ensemble.hostPorts());
        try (BufferedReader answers = kazoo.inputReader(StandardCharsets.UTF_8);
                PrintWriter commands = new PrintWriter(kazoo.outputWriter(StandardCharsets.UTF_8), true)) {
            assertEquals("ready", answers.readLine());
            leader.kill();
            commands.println("killed");
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                System.out.println("kazoo: " + line);
                assertTrue(line.startsWith("ok "), line);
            }
            assertTrue(kazoo.waitFor(30, SECONDS));
            assertEquals(0, kazoo.exitValue());
        } finally {
            kazoo.destroyForcibly();
        }
    }
}
