package io.conclave.proofs.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.grant.LossReason;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The holder of a lock is connected to a follower that is cut off from the other servers, wholly or one way: by its own clock its grant ends before anybody else has the lock. All is in
 * one JVM, so that the times of both can be compared. {@code -Dcutoff.times=50} is its long form.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CutOffFollowerIT {
    private static final int TIMES = Integer.getInteger("cutoff.times", 3);
    private static final Duration TIMEOUT = Duration.ofMillis(Integer.getInteger("cutoff.sessionTimeoutMs", 1_500));
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** What does not come through any more. */
    enum Cut {
        BOTH_WAYS {
            @Override
            void off(ConclaveEnsemble ensemble, int follower) {
                ensemble.isolate(follower);
            }
        },
        NOTHING_COMES_TO_IT {
            @Override
            void off(ConclaveEnsemble ensemble, int follower) {
                others(ensemble, follower).forEach(other -> ensemble.cutOneWay(other, follower));
            }
        },
        NOTHING_COMES_FROM_IT {
            @Override
            void off(ConclaveEnsemble ensemble, int follower) {
                others(ensemble, follower).forEach(other -> ensemble.cutOneWay(follower, other));
            }
        };

        abstract void off(ConclaveEnsemble ensemble, int follower);

        private static Stream<Integer> others(ConclaveEnsemble ensemble, int follower) {
            return ensemble.ids().stream().filter(id -> id != follower);
        }
    }

    private final Map<Cut, LongSummaryStatistics> marginsMs = new TreeMap<>();
    private ConclaveEnsemble ensemble;
    private int round;

    @BeforeAll
    void start() {
        ensemble = ConclaveEnsemble.builder().electionTimeoutMs(1_000).start();
    }

    @AfterAll
    void stop() {
        ensemble.close();
        marginsMs.forEach((cut, margins) -> System.out.printf(
                "%s: %d times, with a session timeout of %d ms the holder's time was over %d to %d ms, %.0f on average, before its znode was seen to be gone%n",
                cut, margins.getCount(), TIMEOUT.toMillis(), margins.getMin(), margins.getMax(), margins.getAverage()));
    }

    static Stream<Cut> cuts() {
        return IntStream.range(0, TIMES).boxed().flatMap(i -> Stream.of(Cut.values()));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void grantOfAHolderWhoseFollowerIsCutOffEndsByItsOwnClockBeforeTheNextOneIsGiven(Cut cut) throws Exception {
        String path = "/lock-" + ++round;
        int leader = ensemble.awaitLeader();
        int follower = ensemble.follower();
        int waitersServer = ThreadLocalRandom.current().nextBoolean() ? leader : 6 - leader - follower;
        try (Coordinator holders = connect(follower);
                Coordinator waiters = connect(waitersServer)) {
            LockGrant held = DistributedLock.at(holders, path).acquire(PATIENCE);
            CompletableFuture<LockGrant> waiter =
                    DistributedLock.at(waiters, path).acquireAsync();
            await().atMost(PATIENCE)
                    .until(() -> DistributedLock.at(waiters, path).members().size() == 2);
            CompletableFuture<Boolean> heldWhenTheNextWasGranted = waiter.thenApply(next -> held.isHeld());
            cut.off(ensemble, follower);
            recordMargin(cut, held, waitersServer);
            LockGrant next = waiter.get(60, SECONDS);
            assertFalse(heldWhenTheNextWasGranted.get(60, SECONDS));
            assertFalse(held.isHeld());
            assertTrue(next.token().compareTo(held.token()) > 0);
            assertEquals(
                    LossReason.SESSION_LOST, held.lost().toCompletableFuture().get(60, SECONDS));
            next.close();
            ensemble.healAll();
            ensemble.awaitServing(follower);
        } finally {
            ensemble.healAll();
        }
        ensemble.ids().forEach(ensemble::awaitServing);
    }

    /**
     * Looks at both ends until the holder's znode is gone where the waiter looks at the line: when the holder's time was over at the latest, and when the znode was surely still there.
     */
    private void recordMargin(Cut cut, LockGrant held, int waitersServer) {
        long overNanos = System.nanoTime() + TIMEOUT.toNanos();
        long thereNanos = System.nanoTime();
        while (true) {
            long beforeNanos = System.nanoTime();
            if (ensemble.server(waitersServer)
                    .state()
                    .znode(held.path().toString())
                    .isEmpty()) {
                break;
            }
            thereNanos = beforeNanos;
            Duration remaining = held.remaining();
            long afterNanos = System.nanoTime();
            overNanos = remaining.isZero() ? Math.min(overNanos, afterNanos) : afterNanos + remaining.toNanos();
            LockSupport.parkNanos(100_000);
        }
        marginsMs
                .computeIfAbsent(cut, key -> new LongSummaryStatistics())
                .accept(TimeUnit.NANOSECONDS.toMillis(thereNanos - overNanos));
        assertTrue(thereNanos > overNanos, () -> cut + ": the znode was gone before the holder's time was over");
    }

    private Coordinator connect(int server) {
        return Coordinator.builder(ensemble.connectString(server))
                .sessionTimeout(TIMEOUT)
                .connect();
    }
}
