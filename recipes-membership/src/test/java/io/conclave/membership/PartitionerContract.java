package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What a partitioner promises, on every backend; a subclass says where the backend is. */
public abstract class PartitionerContract extends RecipeFixture {
    private static final String PATH = "/shards/orders";
    private static final NodePath ASSIGNMENT = NodePath.of(PATH + "/assignment");
    private static final Set<String> SIX = Set.of("0", "1", "2", "3", "4", "5");

    /** What a member was told. */
    private static class Told implements PartitionListener {
        final List<String> calls = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void acquired(PartitionGrant partition) {
            calls.add("+" + partition.partition());
        }

        @Override
        public void released(PartitionGrant partition, LossReason reason) {
            calls.add("-" + partition.partition() + " " + reason);
        }
    }

    private static Partitioner partitioner(Coordinator coordinator) {
        return Partitioner.at(coordinator, PATH, SIX).withQuietPeriod(Duration.ofMillis(50));
    }

    private PartitionShare join(String id) {
        return partitioner(connect()).join(id, new Told());
    }

    private static Map<String, FencingToken> tokens(PartitionShare share) {
        Map<String, FencingToken> tokens = new TreeMap<>();
        share.held().forEach((name, grant) -> tokens.put(name, grant.token()));
        return tokens;
    }

    private static void awaitShares(int size, PartitionShare... shares) {
        await().atMost(PATIENCE.multipliedBy(2)).until(() -> {
            Set<String> all = new TreeSet<>();
            boolean areEven = true;
            for (PartitionShare share : shares) {
                areEven &= share.held().size() == size;
                all.addAll(share.held().keySet());
            }
            return areEven && all.size() == size * shares.length;
        });
    }

    @Test
    void partitionsAreDividedAndOnlyOneShareMoves() throws Exception {
        PartitionShare a = join("a");
        awaitShares(6, a);
        Map<String, FencingToken> ofA = tokens(a);
        PartitionShare b = join("b");
        awaitShares(3, a, b);
        assertTrue(ofA.entrySet().containsAll(tokens(a).entrySet()), "what it keeps is not touched");
        b.held().forEach((name, grant) -> {
            assertTrue(grant.isHeld());
            assertEquals(name, grant.partition());
            assertTrue(grant.token().compareTo(ofA.get(name)) > 0, "tokens of a partition grow");
        });
        Map<String, FencingToken> keptByA = tokens(a);
        Map<String, FencingToken> keptByB = tokens(b);
        PartitionShare c = join("c");
        awaitShares(2, a, b, c);
        assertTrue(keptByA.entrySet().containsAll(tokens(a).entrySet()));
        assertTrue(keptByB.entrySet().containsAll(tokens(b).entrySet()));
        Map<String, FencingToken> ofC = tokens(c);
        Map<String, FencingToken> lastOfB = tokens(b);
        a.close();
        assertEquals(Map.of(), a.held());
        assertEquals(LossReason.RELEASED, get(a.ended()));
        awaitShares(3, b, c);
        assertTrue(tokens(c).entrySet().containsAll(ofC.entrySet()));
        assertTrue(tokens(b).entrySet().containsAll(lastOfB.entrySet()));
        b.close();
        awaitShares(6, c);
        c.close();
    }

    @Test
    void partitionIsHeldUntilItsWorkHasEnded() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<PartitionGrant> ending = new CompletableFuture<>();
        PartitionShare a = partitioner(connect()).join("a", new Told() {
            @Override
            public void released(PartitionGrant partition, LossReason reason) {
                ending.complete(partition);
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        awaitShares(6, a);
        PartitionShare b = join("b");
        PartitionGrant grant = get(ending);
        assertTrue(grant.isHeld());
        assertFalse(b.held().containsKey(grant.partition()));
        mayEnd.countDown();
        awaitShares(3, a, b);
        assertEquals(LossReason.RELEASED, get(grant.lost().toCompletableFuture()));
        a.close();
        b.close();
    }

    @Test
    void lostSessionLosesAllAndTheMemberGetsItsShareAgain() throws Exception {
        connect(); // the store in memory goes by the clock of the first one
        PartitionShare steady = join("steady");
        awaitShares(6, steady);
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Told told = new Told();
        PartitionShare losing = partitioner(coordinator).join("losing", told);
        awaitShares(3, steady, losing);
        Set<String> before = losing.held().keySet();
        loseSession(coordinator, clock);
        await().atMost(PATIENCE)
                .until(() -> before.stream().allMatch(name -> told.calls.contains("-" + name + " SESSION_LOST")));
        awaitShares(3, steady, losing);
        losing.close();
        awaitShares(6, steady);
    }

    @Test
    void memberThatIsThrownOutHoldsNothing() throws Exception {
        Coordinator operator = connect();
        PartitionShare a = join("a");
        PartitionShare b = join("b");
        awaitShares(3, a, b);
        operator.execute(Delete.of(NodePath.of(PATH + "/members/a")));
        assertEquals(LossReason.NODE_DELETED, get(a.ended()));
        assertEquals(Map.of(), a.held());
        awaitShares(6, b);
        a.close();
    }

    @Test
    void claimThatIsDeletedIsLostAndMadeAgain() throws Exception {
        Coordinator operator = connect();
        Told told = new Told();
        PartitionShare a = partitioner(connect()).join("a", told);
        awaitShares(6, a);
        PartitionGrant grant = a.held().get("3");
        operator.execute(Delete.of(grant.path()));
        assertEquals(LossReason.NODE_DELETED, get(grant.lost().toCompletableFuture()));
        await().atMost(PATIENCE)
                .until(() ->
                        a.held().containsKey("3") && a.held().get("3").token().compareTo(grant.token()) > 0);
        await().atMost(PATIENCE)
                .until(() -> told.calls.stream().filter("+3"::equals).count() == 2);
        assertEquals(
                List.of("+3", "-3 NODE_DELETED", "+3"),
                told.calls.stream().filter(call -> call.startsWith("3", 1)).toList());
    }

    @Test
    void assignmentThatIsSpoiledIsWrittenAnewAndNothingMoves() throws Exception {
        Coordinator operator = connect();
        PartitionShare a = join("a");
        PartitionShare b = join("b");
        awaitShares(3, a, b);
        Map<String, FencingToken> ofA = tokens(a);
        operator.execute(SetData.of(ASSIGNMENT, "nonsense".getBytes()));
        awaitAssignment(operator);
        operator.execute(Delete.of(ASSIGNMENT));
        awaitAssignment(operator);
        assertEquals(ofA, tokens(a));
        b.close();
        awaitShares(6, a);
    }

    /** As by a first member that was slow to write, and has left since it looked at the group. */
    @Test
    void assignmentAmongFormerMembersIsWrittenAnew() throws Exception {
        PartitionShare b = join("b");
        awaitShares(6, b);
        Assignment late = Assignment.NONE.next(List.of("a", "b"), SIX);
        Coordinator coordinator = connect();
        coordinator.execute(SetData.of(ASSIGNMENT, late.toBytes()));
        await().atMost(PATIENCE)
                .until(() -> assignment(coordinator).map(Assignment::members).equals(Optional.of(Set.of("b"))));
        awaitShares(6, b);
        b.close();
    }

    private static void awaitAssignment(Coordinator coordinator) {
        await().atMost(PATIENCE).until(() -> assignment(coordinator).isPresent());
    }

    private static Optional<Assignment> assignment(Coordinator coordinator) throws Exception {
        try {
            return Assignment.parse(coordinator
                    .execute(GetData.of(ASSIGNMENT).linearizable())
                    .bytes()
                    .text());
        } catch (RefusedException noNode) {
            return Optional.empty();
        }
    }

    @Test
    void moreMembersThanPartitionsWait() throws Exception {
        Partitioner two = Partitioner.at(connect(), PATH, Set.of("0", "1")).withQuietPeriod(Duration.ofMillis(50));
        PartitionShare a = two.join("a", new Told());
        PartitionShare b = two.join("b", new Told());
        PartitionShare c = two.join("c", new Told());
        awaitShares(1, a, b);
        assertEquals(Map.of(), c.held());
        a.close();
        awaitShares(1, b, c);
        get(b.closeAsync());
        awaitShares(2, c);
    }

    @Test
    void closedCoordinatorEndsTheShare() throws Exception {
        Coordinator closing = connect();
        Told told = new Told();
        PartitionShare a = partitioner(closing).join("a", told);
        PartitionShare b = join("b");
        awaitShares(3, a, b);
        closing.close();
        assertEquals(LossReason.COORDINATOR_CLOSED, get(a.ended()));
        awaitShares(6, b);
        a.close();
    }

    @Test
    void listenerLeavesWithoutWaitingForItself() throws Exception {
        CompletableFuture<PartitionShare> itself = new CompletableFuture<>();
        CompletableFuture<Boolean> refused = new CompletableFuture<>();
        PartitionShare a = partitioner(connect()).join("a", new Told() {
            @Override
            public void acquired(PartitionGrant partition) {
                try {
                    itself.get(120, SECONDS).close();
                } catch (IllegalStateException e) {
                    refused.complete(true);
                } catch (Exception e) {
                    refused.completeExceptionally(e);
                }
                itself.join().closeAsync();
                throw new IllegalStateException("thrown by a test");
            }
        });
        itself.complete(a);
        assertTrue(get(refused));
        assertEquals(LossReason.RELEASED, get(a.ended()));
    }

    @Test
    void badInputIsRefusedByName() {
        Coordinator coordinator = connect();
        assertMessage("\"/\"", () -> Partitioner.at(coordinator, "/", SIX));
        assertMessage("at least", () -> Partitioner.at(coordinator, PATH, Set.of()));
        assertMessage("a/b", () -> Partitioner.at(coordinator, PATH, Set.of("a/b")));
        assertMessage("PT-0.001S", () -> partitioner(coordinator).withQuietPeriod(Duration.ofMillis(-1)));
        assertMessage("x/y", () -> partitioner(coordinator).join("x/y", new Told()));
    }

    private static void assertMessage(String part, Executable call) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call);
        assertTrue(refused.getMessage().contains(part), refused::getMessage);
    }
}
