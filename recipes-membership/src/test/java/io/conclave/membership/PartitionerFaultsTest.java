package io.conclave.membership;

import io.conclave.error.LossReason;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.HeldClaim;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a partitioner's runs: no partition has two holders, and in the end each has one.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class PartitionerFaultsTest {
    private static final Set<String> FOUR = Set.of("0", "1", "2", "3");
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    private static PartitionShare join(Actor me, String id) {
        return Partitioner.at(me.coordinator(), "/shards/faults", FOUR)
                .withQuietPeriod(Duration.ofMillis(500))
                .join(id, new Watched(me));
    }

    /** Has the driver watch that no other member holds what this one does. */
    private static final class Watched implements PartitionListener {
        private final Actor me;
        private final Map<String, Holding> holdings = new ConcurrentHashMap<>();

        Watched(Actor me) {
            this.me = me;
        }

        @Override
        public void acquired(PartitionGrant partition) {
            String name = partition.partition();
            holdings.put(name, me.granted(name, Holding.Kind.EXCLUSIVE, HeldClaim.of(partition), 1));
        }

        @Override
        public void released(PartitionGrant partition, LossReason reason) {
            holdings.remove(partition.partition()).ends();
        }
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
        run.rival("joins and leaves", me -> {
            try (PartitionShare share = join(me, "m")) {
                run.pause(Duration.ofSeconds(2));
            }
        });
    }

    /** Waits until all partitions are held by one of the shares. */
    private static void awaitAllHeld(FaultRun run, PartitionShare... shares) throws InterruptedException {
        Set<String> held = new TreeSet<>();
        for (int looks = 0; looks < 300; looks++) {
            held.clear();
            for (PartitionShare share : shares) {
                held.addAll(share.held().keySet());
            }
            if (held.equals(FOUR)) {
                return;
            }
            run.pause(BETWEEN_LOOKS);
        }
        run.violated("not all partitions have a holder, only " + held);
    }

    static FaultDriver leaving() {
        return FaultDriver.of("partitioner, member that leaves", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        try (PartitionShare share = join(me, "a")) {
                            run.pause(Duration.ofSeconds(3));
                        }
                    });
                    run.untilAtRest();
                    run.helper("other").start(me -> {
                        try (PartitionShare share = join(me, "b")) {
                            run.victim().join();
                            awaitAllHeld(run, share);
                        }
                    });
                })
                .within(Duration.ofMinutes(3))
                .requestsAtMost(5, 60); // its share is assigned again, on every session
    }

    @Test
    void memberThatLeavesLeavesItsShareToOthers() {
        leaving().verify();
    }

    static FaultDriver staying() {
        AtomicReference<@Nullable PartitionShare> victims = new AtomicReference<>();
        AtomicReference<@Nullable PartitionShare> others = new AtomicReference<>();
        return FaultDriver.of("partitioner, member that stays", run -> {
                    rivals(run);
                    victims.set(null);
                    others.set(null);
                    run.helper("other").start(me -> others.set(join(me, "b")));
                    run.victim().start(me -> {
                        victims.set(join(me, "c"));
                        run.pause(Duration.ofSeconds(3));
                    });
                })
                .keepingZnodesUntilTheEnd()
                .within(Duration.ofMinutes(3))
                .requestsAtMost(5, 60)
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40)); // until the next session, should this one have been lost
                    run.untilAtRest();
                    PartitionShare victim = victims.get();
                    PartitionShare other = others.get();
                    if (other == null || victim == null) {
                        run.violated("a member did not join: " + victim + ", " + other);
                        return;
                    }
                    awaitAllHeld(run, victim, other);
                    boolean isThrownOut = run.struck().stream().anyMatch(Fault::deletesNodes);
                    if (!isThrownOut && victim.held().size() != 2) {
                        run.violated("the shares are not even: " + victim + ", " + other);
                    }
                    victim.close();
                    other.close();
                });
    }

    @Test
    void memberThatStaysHasItsShareInTheEnd() {
        staying().verify();
    }
}
