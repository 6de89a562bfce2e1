package io.conclave.membership;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** What a live view of a group promises. */
abstract class GroupViewContract extends GroupFixture {
    @Test
    void viewReportsJoinsChangesAndLeaves() throws Exception {
        Told told = new Told();
        try (GroupView<String> view = groupOf(connect()).view()) {
            view.onChange(told);
            assertEquals(0, view.awaitFirstSnapshot(PATIENCE).size());
            told.awaitLast();
            Membership<String> a = groupOf(connect()).join("a", "one", PATIENCE);
            told.awaitLast("a=one");
            Membership<String> b = groupOf(connect()).join("b", "two", PATIENCE);
            told.awaitLast("a=one", "b=two");
            a.update("three");
            told.awaitLast("a=three", "b=two");
            b.leave();
            told.awaitLast("a=three");
            assertTrue(view.isCurrent());
            assertEquals(List.of("a=three"), texts(view.snapshot().members()));
            assertEquals(5, told.updates.get(told.updates.size() - 1).snapshot().number(), told.updates::toString);
            assertEquals(List.of("b"), ids(told.updates.get(4).left()));
            assertEquals(List.of("a"), ids(told.updates.get(3).changed()));
            assertEquals(List.of("b"), ids(told.updates.get(2).joined()));
        }
        assertEquals(List.of(), told.problems());
    }

    @Test
    void lateListenerReceivesAllMembersAsJoined() throws Exception {
        groupOf(connect()).join("a", "one", PATIENCE);
        groupOf(connect()).join("b", "two", PATIENCE);
        GroupView<String> view = groupOf(connect()).view();
        view.awaitFirstSnapshot(PATIENCE);
        Told told = new Told();
        Registration registration = view.onChange(told);
        told.awaitLast("a=one", "b=two");
        assertEquals(List.of("a", "b"), ids(told.updates.get(0).joined()));
        assertEquals(0, told.updates.get(0).since());
        registration.close();
        groupOf(connect()).join("c", "three", PATIENCE);
        awaitSnapshot(view, "a=one", "b=two", "c=three");
        assertEquals(1, told.updates.size());
        view.close();
    }

    @Test
    void slowListenerReceivesGatheredChangesInOneDifference() throws Exception {
        Coordinator coordinator = connect();
        GroupView<String> view = groupOf(connect()).view();
        view.awaitFirstSnapshot(PATIENCE);
        Semaphore mayReturn = new Semaphore(0);
        Told told = new Told();
        view.onChange(update -> {
            told.accept(update);
            mayReturn.acquireUninterruptibly();
        });
        told.awaitLast();
        Membership<String> gone = groupOf(coordinator).join("gone", "x", PATIENCE);
        Membership<String> stays = groupOf(coordinator).join("stays", "one", PATIENCE);
        awaitSnapshot(view, "gone=x", "stays=one");
        stays.update("two");
        gone.leave();
        awaitSnapshot(view, "stays=two");
        mayReturn.release(100);
        told.awaitLast("stays=two");
        assertEquals(2, told.updates.size(), told.updates::toString);
        assertEquals(List.of("stays"), ids(told.updates.get(1).joined()));
        assertEquals(List.of(), told.problems());
    }

    @Test
    void viewMissesNothingWhenItsSessionIsLost() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator others = connect();
        Coordinator viewer = opened(builder().timeSource(clock));
        Membership<String> a = groupOf(others).join("a", "one", PATIENCE);
        Membership<String> b = groupOf(others).join("b", "two", PATIENCE);
        Told told = new Told();
        GroupView<String> view = groupOf(viewer).view();
        view.onChange(told);
        told.awaitLast("a=one", "b=two");
        viewer.onStateChange(state -> {
            if (state == SessionState.LOST) {
                a.leave();
                b.updateAsync("three");
                groupOf(others).joinAsync("c", "four");
            }
        });
        loseSession(viewer, clock);
        told.awaitLast("b=three", "c=four");
        assertEquals(List.of(), told.problems());
        groupOf(others).join("d", "five", PATIENCE);
        told.awaitLast("b=three", "c=four", "d=five");
        await().atMost(PATIENCE).until(view::isCurrent);
    }

    @Test
    void memberThatComesBackWithAnotherTokenHasLeftAndJoined() throws Exception {
        Coordinator coordinator = connect();
        Told told = new Told();
        GroupView<String> view = groupOf(connect()).view();
        view.onChange(told);
        Membership<String> first = groupOf(coordinator).join("a", "one", PATIENCE);
        told.awaitLast("a=one");
        first.leave();
        groupOf(coordinator).join("a", "two", PATIENCE);
        told.awaitLast("a=two");
        assertEquals(List.of(), told.problems());
        assertEquals(
                List.of("a", "a"),
                told.updates.stream()
                        .flatMap(update -> update.joined().stream())
                        .map(Member::id)
                        .toList());
    }

    @Test
    void viewOfAGroupThatIsDeletedAndMadeAgainGoesOn() throws Exception {
        Coordinator coordinator = connect();
        GroupView<String> view = groupOf(connect()).view();
        groupOf(coordinator).join("a", "one", PATIENCE);
        awaitSnapshot(view, "a=one");
        groupOf(coordinator).delete();
        awaitSnapshot(view);
        groupOf(coordinator).join("b", "two", PATIENCE);
        awaitSnapshot(view, "b=two");
    }

    @Test
    void viewThatIsClosedTellsNothingMore() throws Exception {
        Told told = new Told();
        GroupView<String> view = groupOf(connect()).view();
        view.onChange(told);
        told.awaitLast();
        view.close();
        view.close();
        groupOf(connect()).join("a", "one", PATIENCE);
        assertFalse(view.isCurrent());
        assertEquals(1, told.updates.size());
        Coordinator closed = connect();
        GroupView<String> late = groupOf(closed).view();
        closed.close();
        try {
            get(late.firstSnapshot()); // it may have been quicker
        } catch (ExecutionException e) {
            assertEquals(ClosedException.class, e.getCause().getClass());
        }
        assertThrows(ClosedException.class, () -> {
            GroupView<String> never = groupOf(closed).view();
            never.awaitFirstSnapshot(PATIENCE);
        });
    }

    @Test
    void viewsOfAGroupWithChurnEndWithWhatIsThere() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("churn: seed " + seed);
        Random random = new Random(seed);
        List<Coordinator> coordinators = List.of(connect(), connect(), connect());
        List<Told> listeners = new ArrayList<>();
        List<GroupView<String>> views = new ArrayList<>();
        for (Coordinator coordinator : coordinators) {
            Told told = new Told();
            GroupView<String> view = groupOf(coordinator).view();
            view.onChange(told);
            listeners.add(told);
            views.add(view);
        }
        Map<String, String> expected = new TreeMap<>();
        Map<String, Membership<String>> inside = new HashMap<>();
        for (int step = 0; step < 120; step++) {
            String id = "m" + random.nextInt(12);
            Membership<String> membership = inside.get(id);
            if (membership == null) {
                Coordinator coordinator = coordinators.get(random.nextInt(3));
                inside.put(id, groupOf(coordinator).join(id, "p" + step, PATIENCE));
                expected.put(id, "p" + step);
            } else if (random.nextInt(3) == 0) {
                membership.updateAsync("p" + step);
                expected.put(id, "p" + step);
            } else {
                membership.closeAsync();
                inside.remove(id);
                expected.remove(id);
            }
        }
        String[] last = expected.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .toArray(String[]::new);
        for (Told told : listeners) {
            told.awaitLast(last);
            assertEquals(List.of(), told.problems());
        }
        views.forEach(view -> awaitSnapshot(view, last));
    }
}
