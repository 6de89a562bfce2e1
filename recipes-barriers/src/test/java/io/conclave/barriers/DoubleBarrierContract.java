package io.conclave.barriers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.SetData;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a double barrier promises, on every backend; a subclass says where the backend is. */
public abstract class DoubleBarrierContract extends BarrierFixture {
    private static DoubleBarrier of(Coordinator coordinator, int participants) {
        return DoubleBarrier.at(coordinator, PATH, participants);
    }

    /** Enters with so many, one coordinator each. */
    private List<Participation> entered(int participants) throws Exception {
        List<CompletableFuture<Participation>> stages = new ArrayList<>();
        for (int i = 0; i < participants; i++) {
            stages.add(of(connect(), participants).enterAsync(PATIENCE));
        }
        List<Participation> inside = new ArrayList<>();
        for (CompletableFuture<Participation> stage : stages) {
            inside.add(get(stage));
        }
        return inside;
    }

    @Test
    void noParticipantEntersBeforeAllArriveOrLeavesBeforeAllLeave() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Participation> first = of(coordinator, 3).enterAsync();
        CompletableFuture<Participation> second = of(connect(), 3).enterAsync();
        awaitChildren(coordinator, 2);
        Coordinator fourth = connect();
        CompletableFuture<Participation> ofFour = of(fourth, 4).enterAsync();
        awaitChildren(coordinator, 3);
        for (int i = 0; i < 4; i++) { // behind its list, and what it would do then
            fourth.execute(Exists.of(NodePath.ROOT));
        }
        assertFalse(ofFour.isDone());
        ofFour.cancel(false);
        awaitChildren(coordinator, 2); // three of four did not open it
        assertFalse(first.isDone() || second.isDone());
        Participation third = of(connect(), 3).enter(PATIENCE);
        List<Participation> inside = List.of(get(first), get(second), third);
        assertTrue(inside.stream().allMatch(Participation::isHeld));
        CompletableFuture<Void> firstLeaves = inside.get(0).leaveAsync();
        CompletableFuture<Void> secondLeaves = inside.get(1).leaveAsync();
        assertThrows(WaitTimeoutException.class, () -> {
            try (Participation other = of(coordinator, 1).enter(SHORT)) {
                throw new AssertionError("It is not over yet: " + other);
            }
        });
        assertFalse(firstLeaves.isDone() || secondLeaves.isDone());
        third.leave(PATIENCE);
        get(firstLeaves);
        get(secondLeaves);
        awaitChildren(coordinator, 0); // the one that timed out did not wait for its deletion
        assertTrue(inside.stream().noneMatch(Participation::isHeld));
        assertEquals(LossReason.RELEASED, third.lost().toCompletableFuture().get(120, SECONDS));
    }

    @Test
    void barrierOfOneIsNoObstacle() throws Exception {
        Coordinator coordinator = connect();
        for (int round = 0; round < 3; round++) {
            of(coordinator, 1).enter(PATIENCE).leave();
            assertEquals(List.of(), children(coordinator, PATH));
        }
    }

    @Test
    void roundsFollowEachOtherWithoutOverlap() throws Exception {
        int participants = 5;
        int rounds = 8;
        AtomicInteger entered = new AtomicInteger();
        AtomicInteger leaving = new AtomicInteger();
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < participants; worker++) {
            DoubleBarrier barrier = of(connect(), participants);
            workers.add(threads.submit(() -> {
                for (int round = 1; round <= rounds; round++) {
                    entered.incrementAndGet();
                    Participation participation = barrier.enter(PATIENCE);
                    assertEquals(round * participants, entered.get());
                    leaving.incrementAndGet();
                    participation.leave(PATIENCE);
                    assertTrue(leaving.get() >= round * participants);
                    assertFalse(participation.isHeld());
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get(120, SECONDS);
        }
        assertEquals(List.of(), children(connect(), PATH));
    }

    /** What others write and delete around the barrier wakes those who wait, and lets no one through. */
    @Test
    void wakeUpThatIsNoOpeningLetsNoParticipantThrough() throws Exception {
        Coordinator other = connect();
        CompletableFuture<Participation> first = of(connect(), 2).enterAsync();
        awaitChildren(other, 1);
        NodePath barrier = NodePath.of(PATH);
        NodePath place = barrier.child(children(other, PATH).get(0));
        disturb(other, barrier, place);
        assertFalse(first.isDone());
        Participation second = of(connect(), 2).enter(PATIENCE);
        Participation leaving = get(first);
        awaitChildren(other, 3); // both places, and the opening
        NodePath stays = children(other, PATH).stream()
                .map(barrier::child)
                .filter(child -> !child.equals(place) && !child.name().equals("ready"))
                .findFirst()
                .orElseThrow();
        CompletableFuture<Void> leaves = leaving.leaveAsync();
        disturb(other, barrier, barrier.child("ready"));
        disturb(other, barrier, stays);
        assertFalse(leaves.isDone());
        assertTrue(second.isHeld());
        second.leave(PATIENCE);
        get(leaves);
    }

    /** Each event that a watch on the barrier, its list or the znode can fire, but the one that is waited for. */
    private static void disturb(Coordinator other, NodePath barrier, NodePath znode) throws Exception {
        for (int i = 0; i < 3; i++) {
            other.execute(SetData.of(barrier, new byte[] {1}));
            other.execute(SetData.of(znode, new byte[] {1}));
            other.execute(Create.of(barrier.child("foreign")));
            other.execute(Delete.of(barrier.child("foreign")));
        }
    }

    @Test
    void participantThatGivesUpEnteringLeavesNothingBehindAndIsNotCounted() throws Exception {
        Coordinator coordinator = connect();
        assertThrows(WaitTimeoutException.class, () -> of(coordinator, 2).enter(SHORT));
        awaitChildren(coordinator, 0); // the exception does not wait for the deletion
        CompletableFuture<Participation> cancelled = of(coordinator, 2).enterAsync();
        awaitChildren(coordinator, 1);
        cancelled.cancel(false);
        awaitChildren(coordinator, 0);
        CompletableFuture<Participation> first = of(coordinator, 2).enterAsync();
        awaitChildren(coordinator, 1);
        assertFalse(first.isDone());
        Participation second = of(connect(), 2).enter(PATIENCE);
        get(first).leaveAsync();
        second.leave(PATIENCE);
    }

    @Test
    void participantThatDiesInsideDoesNotBlockOthers() throws Exception {
        List<Participation> inside = new ArrayList<>();
        List<Coordinator> owners = new ArrayList<>();
        List<CompletableFuture<Participation>> stages = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            owners.add(connect());
            stages.add(of(owners.get(i), 4).enterAsync(PATIENCE));
        }
        for (CompletableFuture<Participation> stage : stages) {
            inside.add(get(stage));
        }
        CompletableFuture<Void> first = inside.get(0).leaveAsync();
        CompletableFuture<Void> second = inside.get(1).leaveAsync();
        inside.get(2).close(); // without waiting, as a process that dies
        owners.get(3).close();
        get(first);
        get(second);
        for (Participation participation : entered(4)) { // whatever was left behind, the next round begins anew
            participation.leaveAsync(PATIENCE);
        }
        await().atMost(PATIENCE).until(() -> children(connect(), PATH).isEmpty());
    }

    @Test
    void znodesOfADeadRoundLetNoParticipantThrough() throws Exception {
        for (Participation participation : entered(2)) {
            get(participation.closeAsync()); // close() waits no longer than the session has left
        }
        Coordinator coordinator = connect();
        assertEquals(List.of("ready"), children(coordinator, PATH));
        CompletableFuture<Participation> alone = of(coordinator, 2).enterAsync();
        await().atMost(PATIENCE).until(() -> {
            List<String> there = children(coordinator, PATH);
            return there.size() == 1 && !there.contains("ready");
        });
        assertFalse(alone.isDone());
        alone.cancel(false);
        awaitChildren(coordinator, 0);
        List<Participation> next = entered(2);
        next.get(0).leaveAsync();
        next.get(1).leave(PATIENCE);
        assertEquals(List.of(), children(coordinator, PATH));
    }

    @Test
    void participantThatComesDuringARoundWaitsForTheNextRound() throws Exception {
        List<Participation> inside = entered(2);
        Coordinator coordinator = connect();
        CompletableFuture<Participation> late = of(coordinator, 2).enterAsync(PATIENCE);
        awaitChildren(coordinator, 4);
        CompletableFuture<Void> leaves = inside.get(0).leaveAsync();
        inside.get(1).leave(PATIENCE); // the late one does not hold them up
        get(leaves);
        awaitChildren(coordinator, 1);
        assertFalse(late.isDone());
        Participation other = of(connect(), 2).enter(PATIENCE);
        get(late).leaveAsync();
        other.leave(PATIENCE);
    }

    @Test
    void participantThatComesDuringARoundIsNotHeldUpByTheDeathOfOthers() throws Exception {
        List<Participation> inside = entered(2);
        Coordinator coordinator = connect();
        List<CompletableFuture<Participation>> late = new ArrayList<>();
        late.add(of(coordinator, 2).enterAsync(PATIENCE));
        late.add(of(connect(), 2).enterAsync(PATIENCE));
        awaitChildren(coordinator, 5);
        inside.forEach(Participation::close);
        Participation next = get(late.get(0));
        get(late.get(1)).leaveAsync();
        next.leave(PATIENCE);
    }

    @Test
    void leavingThatRunsOutOfTimeLeavesNothingBehind() throws Exception {
        Coordinator coordinator = connect();
        List<Participation> inside = entered(2);
        assertThrows(WaitTimeoutException.class, () -> inside.get(0).leave(SHORT));
        assertFalse(inside.get(0).isHeld());
        awaitChildren(coordinator, 2);
        inside.get(1).leave(PATIENCE);
        assertEquals(List.of(), children(coordinator, PATH));
    }

    @Test
    void participantLosesItsPlaceWhenItsZnodeIsDeleted() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Participation> waiting = of(connect(), 2).enterAsync();
        awaitChildren(coordinator, 1);
        coordinator.execute(
                Delete.of(NodePath.of(PATH).child(children(coordinator, PATH).get(0))));
        Exception failure = assertThrows(Exception.class, () -> get(waiting));
        assertTrue(failure.getCause() instanceof GrantLostException, () -> "" + failure);
        List<Participation> inside = entered(2);
        for (String name : children(coordinator, PATH)) {
            if (!name.equals("ready")) {
                coordinator.execute(Delete.of(NodePath.of(PATH).child(name)));
            }
        }
        for (Participation participation : inside) {
            assertEquals(
                    LossReason.NODE_DELETED,
                    participation.lost().toCompletableFuture().get(120, SECONDS));
            participation.leave(PATIENCE); // no participant is inside any more
        }
    }

    @Test
    void readyZnodeOfAnotherClientLetsAllParticipantsThrough() throws Exception {
        Coordinator coordinator = connect();
        NodePath barrier = NodePath.of(PATH);
        coordinator.execute(Create.of(barrier.parent().orElseThrow()));
        coordinator.execute(Create.of(barrier)); // a container that is empty may go at any time
        assertThrows(WaitTimeoutException.class, () -> of(coordinator, 2).enter(SHORT));
        coordinator.execute(Create.of(barrier.child("ready")));
        of(coordinator, 2).enter(PATIENCE).leave(PATIENCE);
        assertEquals(List.of(), children(coordinator, PATH));
    }

    /** Which may stand there before the barrier is used, and stay. */
    @Test
    void znodeOfOthersIsNoParticipant() throws Exception {
        Coordinator coordinator = connect();
        NodePath barrier = NodePath.of(PATH);
        coordinator.execute(Create.of(barrier.parent().orElseThrow()));
        coordinator.execute(Create.of(barrier));
        coordinator.execute(Create.of(barrier.child("x")));
        assertThrows(WaitTimeoutException.class, () -> of(coordinator, 2).enter(SHORT));
        awaitChildren(coordinator, 1); // else the one that timed out may count in the next round
        List<Participation> inside = entered(2);
        CompletableFuture<Void> leaves = inside.get(0).leaveAsync();
        inside.get(1).leave(PATIENCE);
        get(leaves);
        assertEquals(List.of("x"), children(coordinator, PATH));
    }

    @Test
    void badInputIsRefusedByName() {
        Coordinator coordinator = connect();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> DoubleBarrier.at(coordinator, "/", 2))
                .getMessage()
                .contains("\"/\""));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> of(coordinator, 0))
                .getMessage()
                .contains("participants 0"));
    }
}
