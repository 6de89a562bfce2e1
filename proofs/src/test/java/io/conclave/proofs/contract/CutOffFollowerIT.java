package io.conclave.proofs.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.error.LossReason;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The holder of a lock is connected to a follower that is cut off from the other servers, wholly or one way: by its own
 * clock its grant ends before anybody else has the lock. All is in one JVM, so that the times of both can be compared.
 * {@code -Dcutoff.times=50} is its long form.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CutOffFollowerIT {
    private static final int TIMES = Integer.getInteger("cutoff.times", 3);
    private static final Duration TIMEOUT = Duration.ofMillis(Integer.getInteger("cutoff.sessionTimeoutMs", 2_000));
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
                "%s: %d times, with a session timeout of %d ms the holder's time was over %d to %d ms, %.0f on "
                        + "average, before the next one had the lock%n",
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
        try (Coordinator holders = connect(follower, TIMEOUT);
                Coordinator waiters = connect(waitersServer, PATIENCE)) {
            LockGrant held = DistributedLock.at(holders, path).acquire(PATIENCE);
            CompletableFuture<LockGrant> waiter =
                    DistributedLock.at(waiters, path).acquireAsync();
            AtomicBoolean heldWhenTheNextWasGranted = new AtomicBoolean();
            // at once, on the thread that grants: no caller can have used the grant before
            CompletableFuture<Long> granted = waiter.thenApply(next -> {
                heldWhenTheNextWasGranted.set(held.isHeld());
                return System.nanoTime();
            });
            cut.off(ensemble, follower);
            long marginNanos = -watchedUntil(granted, held) + granted.get(120, SECONDS);
            marginsMs
                    .computeIfAbsent(cut, key -> new LongSummaryStatistics())
                    .accept(TimeUnit.NANOSECONDS.toMillis(marginNanos));
            assertFalse(heldWhenTheNextWasGranted.get());
            assertTrue(marginNanos > 0, () -> cut + ": the holder's time was over " + -marginNanos + " ns too late");
            assertFalse(held.isHeld());
            LockGrant next = waiter.get();
            assertTrue(next.token().compareTo(held.token()) > 0);
            assertEquals(
                    LossReason.SESSION_LOST, held.lost().toCompletableFuture().get(120, SECONDS));
            next.close();
            ensemble.healAll();
            ensemble.awaitServing(follower);
        } finally {
            ensemble.healAll();
        }
        ensemble.ids().forEach(ensemble::awaitServing);
    }

    /**
     * When the holder's time was over by its own clock, at the latest; looks at it until the next one was granted the
     * lock.
     */
    private static long watchedUntil(CompletableFuture<?> granted, LockGrant held) {
        long overNanos = System.nanoTime();
        while (!granted.isDone()) {
            long beforeNanos = System.nanoTime();
            long remainingNanos = held.remaining().toNanos();
            long atTheLatestNanos = System.nanoTime() + remainingNanos;
            boolean extended = remainingNanos > 0 && beforeNanos + remainingNanos > overNanos;
            overNanos = extended ? atTheLatestNanos : Math.min(overNanos, atTheLatestNanos);
            LockSupport.parkNanos(100_000);
        }
        return overNanos;
    }

    private Coordinator connect(int server, Duration timeout) {
        return Coordinator.builder(ensemble.connectString(server))
                .sessionTimeout(timeout)
                .connect();
    }
}
