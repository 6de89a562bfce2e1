package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.LossReason;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.Request;
import io.conclave.testkit.memory.Decision;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestHook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of a run: whatever happens to the victim, nobody else is blocked, two never hold, nothing stays behind, and the victim is told the
 * right kind of failure.
 */
class LockFaultsTest {
    private static final NodePath LINE = NodePath.of("/locks/faults");
    private static final Set<Decision> FAULTS = EnumSet.complementOf(EnumSet.of(Decision.PROCEED, Decision.HOLD_REPLY));

    /** One fault at one request of the victim. */
    private record Plan(int index, Decision decision, boolean deleteNode) {
        boolean expires() {
            return decision == Decision.EXPIRE_BEFORE || decision == Decision.EXPIRE_AFTER;
        }
    }

    private interface Scenario {
        void run(Bench bench) throws Exception;
    }

    /** Two coordinators on one store; the faults meet the victim only. */
    private static final class Bench implements AutoCloseable {
        final MemoryStore store;
        final Faults faults;
        final Coordinator victim;
        final Coordinator other;
        final Plan plan;
        final AtomicInteger requests = new AtomicInteger();
        final AtomicInteger holders = new AtomicInteger();
        private final long victimSession;

        Bench(Plan plan) {
            this.plan = plan;
            String name = UUID.randomUUID().toString();
            store = MemoryStore.named(name);
            faults = store.faults();
            victim = connect(name);
            other = connect(name);
            victimSession = victim.recipeSession().id();
            faults.intercept(new RequestHook() {
                @Override
                public Decision onRequest(long sessionId, Request<?> request, long index) {
                    return sessionId == victimSession ? decide() : Decision.PROCEED;
                }
            });
        }

        private static Coordinator connect(String name) {
            return Coordinator.builder("memory:" + name)
                    .sessionTimeout(Duration.ofSeconds(10))
                    .connect();
        }

        private Decision decide() {
            if (requests.getAndIncrement() != plan.index) {
                return Decision.PROCEED;
            }
            if (plan.deleteNode) {
                deleteVictimsNode();
            }
            return plan.decision;
        }

        private void deleteVictimsNode() {
            for (String name : namesOwnedByVictim) {
                faults.deleteAsOperator(LINE.child(name));
            }
        }

        /** Filled by the scenario, because a hook must not ask the store for lists. */
        final List<String> namesOwnedByVictim = new java.util.concurrent.CopyOnWriteArrayList<>();

        DistributedLock lockOf(Coordinator coordinator) {
            return DistributedLock.at(coordinator, LINE);
        }

        void enter() {
            assertEquals(1, holders.incrementAndGet(), "two hold the lock");
        }

        void leave() {
            holders.decrementAndGet();
        }

        int inLine() throws InterruptedException {
            try {
                return other.execute(GetChildren.of(LINE)).names().size();
            } catch (io.conclave.error.RefusedException noNode) {
                return 0;
            }
        }

        void awaitInLine(int count) {
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> inLine() == count);
        }

        @Override
        public void close() {
            victim.close();
            other.close();
        }
    }

    private static void forEveryFault(String name, Scenario scenario) throws Exception {
        int clean = requestsOf(scenario);
        List<Plan> plans = new ArrayList<>();
        for (int index = 0; index <= clean; index++) {
            for (Decision decision : FAULTS) {
                plans.add(new Plan(index, decision, false));
            }
            plans.add(new Plan(index, Decision.PROCEED, true));
            plans.add(new Plan(index, Decision.DROP_AFTER, true));
        }
        for (Plan plan : plans) {
            try (Bench bench = new Bench(plan)) {
                scenario.run(bench);
                bench.awaitInLine(0);
                assertTrue(bench.requests.get() <= 4 * clean + 10, "requests: " + bench.requests + ", clean " + clean);
            } catch (Exception | AssertionError e) {
                throw new AssertionError(name + " with " + plan + " of " + clean + " requests", e);
            }
        }
        System.out.println(name + ": " + clean + " requests in a clean run, " + plans.size() + " runs with faults");
    }

    private static int requestsOf(Scenario scenario) throws Exception {
        try (Bench bench = new Bench(new Plan(-1, Decision.PROCEED, false))) {
            scenario.run(bench);
            bench.awaitInLine(0);
            return bench.requests.get();
        }
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void holderWithAFaultBlocksNobody() throws Exception {
        forEveryFault("holder", bench -> {
            LockGrant grant = acquire(bench, bench.lockOf(bench.victim).acquireAsync());
            CompletableFuture<LockGrant> next = bench.lockOf(bench.other).acquireAsync();
            if (grant != null) {
                bench.namesOwnedByVictim.add(grant.path().name());
                if (!next.isDone()) {
                    releaseAsHolder(bench, grant);
                }
            }
            next.get(20, SECONDS).close();
        });
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void waiterWithAFaultGetsTheLockOrSaysWhyNot() throws Exception {
        forEveryFault("waiter", bench -> {
            LockGrant first = bench.lockOf(bench.other).acquire();
            CompletableFuture<LockGrant> waiter = bench.lockOf(bench.victim).acquireAsync();
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> waiter.isDone() || bench.inLine() == 2);
            bench.lockOf(bench.other).members().stream()
                    .skip(1)
                    .forEach(
                            member -> bench.namesOwnedByVictim.add(member.path().name()));
            first.close();
            LockGrant grant = acquire(bench, waiter);
            if (grant != null) {
                bench.enter();
                bench.leave();
                grant.close();
            }
            bench.lockOf(bench.other).acquire(Duration.ofSeconds(20)).close();
        });
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void waiterThatGivesUpLeavesNothingBehindWhateverHappens() throws Exception {
        forEveryFault("giving up", bench -> {
            LockGrant first = bench.lockOf(bench.other).acquire();
            try {
                bench.lockOf(bench.victim).acquire(Duration.ofMillis(5));
                fail("granted beside " + first);
            } catch (AcquireTimeoutException expected) {
                assertTrue(first.isHeld());
            } catch (SessionGoneException | GrantLostException told) {
                assertTrue(bench.plan.expires() || bench.plan.deleteNode, told::toString);
            }
            bench.awaitInLine(1);
            first.close();
            bench.lockOf(bench.other).acquire(Duration.ofSeconds(20)).close();
        });
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void interruptedWaiterLeavesNothingBehindWhateverHappens() throws Exception {
        forEveryFault("interrupted", bench -> {
            LockGrant first = bench.lockOf(bench.other).acquire();
            CompletableFuture<Void> interrupted = new CompletableFuture<>();
            Thread waiter = new Thread(() -> {
                try {
                    bench.lockOf(bench.victim).acquire().close();
                    interrupted.completeExceptionally(new AssertionError("granted beside " + first));
                } catch (InterruptedException | SessionGoneException | GrantLostException told) {
                    interrupted.complete(null);
                }
            });
            waiter.start();
            while (bench.requests.get() < bench.plan.index && !interrupted.isDone() && bench.inLine() < 2) {
                Thread.onSpinWait();
            }
            waiter.interrupt();
            interrupted.get(20, SECONDS);
            bench.awaitInLine(1);
            first.close();
        });
    }

    /** The grant, or null if the victim was told that it has none, for a reason that the plan explains. */
    private static LockGrant acquire(Bench bench, CompletableFuture<LockGrant> stage) throws Exception {
        try {
            LockGrant grant = stage.get(20, SECONDS);
            return grant;
        } catch (java.util.concurrent.ExecutionException e) {
            Throwable cause = Waiting.cause(e);
            boolean explained = (cause instanceof SessionGoneException && bench.plan.expires())
                    || (cause instanceof GrantLostException && (bench.plan.deleteNode || bench.plan.expires()));
            assertTrue(explained, () -> "not explained by the plan: " + cause);
            return null;
        }
    }

    private static void releaseAsHolder(Bench bench, LockGrant grant) throws Exception {
        bench.enter();
        boolean held = grant.isHeld();
        bench.leave();
        grant.close();
        LossReason reason = grant.lost().toCompletableFuture().get(20, SECONDS);
        if (reason != LossReason.RELEASED) {
            assertTrue(bench.plan.expires() || bench.plan.deleteNode, () -> "lost for no reason: " + reason);
        }
        assertFalse(grant.isHeld());
        assertTrue(held || reason != LossReason.RELEASED, "released what was not held");
    }
}
