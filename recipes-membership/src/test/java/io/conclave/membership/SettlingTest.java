package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.Sync;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** When the quiet time of a group begins anew, by a clock that the test moves. */
class SettlingTest {
    private static final Duration QUIET = Duration.ofSeconds(2);
    private static final Duration ALMOST = QUIET.minusMillis(100);
    private static final Duration TICK = Duration.ofMillis(10);

    @RegisterExtension
    final TestStore store = new TestStore(new ManualTimeSource()); // no session expires

    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator members = store.connect();
    private final Coordinator waiting = store.opened(store.builder().timeSource(clock));

    private static Group<String> group(Coordinator coordinator) {
        return Group.at(coordinator, "/group", DataCodec.TEXT);
    }

    private List<String> settles(CompletableFuture<List<Member<String>>> settled) throws Exception {
        clock.advanceUntil(TICK, settled::isDone);
        return settled.get(120, SECONDS).stream().map(Member::id).toList();
    }

    private long now() {
        return clock.monotonicNanos();
    }

    @Test
    void eachMemberThatComesOrGoesBeginsTheTimeAnew() throws Exception {
        CompletableFuture<List<Member<String>>> settled = group(waiting).settled(QUIET);
        Membership<String> a = group(members).join("a", "one");
        clock.advance(ALMOST);
        Membership<String> b = group(members).join("b", "two");
        long beforeNanos = now();
        clock.advance(ALMOST);
        assertFalse(settled.isDone());
        a.close();
        beforeNanos = now();
        assertEquals(List.of("b"), settles(settled));
        assertFalse(now() - beforeNanos < QUIET.toNanos(), "settled after " + (now() - beforeNanos) + " ns");
        b.close();
    }

    /** In the time in which the payloads are read. */
    @Test
    void withoutAQuietPeriodTheFirstListCountsThoughMembersLeaveBehindIt() throws Exception {
        List<String> ids = List.of("a", "b", "c", "d");
        for (String id : ids) {
            group(members).join(id, "payload");
        }
        AtomicInteger lists = new AtomicInteger();
        AtomicInteger left = new AtomicInteger();
        long session = RecipeAccess.session(waiting).id();
        store.faults().intercept((by, request, number) -> {
            if (by == session && request instanceof GetChildren) {
                lists.incrementAndGet();
            } else if (by == session && left.get() < Math.min(ids.size(), lists.get())) { // one for each list
                store.faults().deleteAsOperator(NodePath.of("/group/" + ids.get(ids.size() - left.incrementAndGet())));
            }
            return RequestFate.PROCEED;
        });
        assertEquals("a", settles(group(waiting).settled(Duration.ZERO)).get(0));
    }

    @Test
    void withoutAQuietPeriodTheFirstListCountsThoughAnotherOneWouldBeDifferent() throws Exception {
        List<String> ids = List.of("a", "b", "c", "d");
        for (String id : ids) {
            group(members).join(id, "payload");
        }
        AtomicInteger lists = new AtomicInteger();
        long session = RecipeAccess.session(waiting).id();
        store.faults().intercept((by, request, number) -> {
            if (by == session && request instanceof GetChildren && lists.get() < ids.size()) {
                store.faults().deleteAsOperator(NodePath.of("/group/" + ids.get(lists.getAndIncrement())));
            }
            return RequestFate.PROCEED;
        });
        assertEquals(List.of("b", "c", "d"), settles(group(waiting).settled(Duration.ZERO)));
    }

    @Test
    void changedPayloadDoesNotBeginTheTimeAnew() throws Exception {
        Membership<String> a = group(members).join("a", "one");
        long beganNanos = now();
        CompletableFuture<List<Member<String>>> settled = group(waiting).settled(QUIET);
        clock.advanceUntil(TICK, () -> now() - beganNanos >= ALMOST.toNanos());
        a.update("two");
        assertEquals(List.of("a"), settles(settled));
        assertEquals("two", settled.get().get(0).payload());
    }

    @Test
    void memberThatCameAndWentUnseenBeginsTheTimeAnew() throws Exception {
        group(members).join("a", "one");
        CompletableFuture<List<Member<String>>> settled = group(waiting).settled(QUIET);
        clock.advance(ALMOST);
        store.faults().isolate(clock);
        group(members).join("b", "two").close();
        long wentNanos = now();
        store.faults().rejoin(clock);
        assertEquals(List.of("a"), settles(settled));
        assertFalse(now() - wentNanos < QUIET.toNanos(), "settled after " + (now() - wentNanos) + " ns");
    }

    @Test
    void groupThatCameAndWentUnseenBeginsTheTimeAnew() throws Exception {
        CompletableFuture<List<Member<String>>> settled = group(waiting).settled(QUIET);
        await().until(() -> watches() == 1);
        clock.advance(ALMOST);
        store.faults().isolate(clock);
        group(members).join("b", "two").close();
        members.execute(Delete.of(NodePath.of("/group")));
        long wentNanos = now();
        store.faults().rejoin(clock);
        assertEquals(List.of(), settles(settled));
        assertFalse(now() - wentNanos < QUIET.toNanos(), "settled after " + (now() - wentNanos) + " ns");
    }

    @Test
    void cancelledWaitLeavesNoWatch() throws Exception {
        for (boolean isThere : new boolean[] {false, true}) {
            if (isThere) {
                group(members).join("a", "one");
            }
            RecipeSession session = RecipeAccess.session(waiting);
            store.faults().holdReplies(session.id());
            group(waiting).settled(QUIET).cancel(false);
            CountDownLatch isEnded = new CountDownLatch(1);
            session.execute(isEnded::countDown);
            isEnded.await();
            store.faults().releaseReplies(session.id());
            waiting.execute(Sync.of(NodePath.of("/group"))); // what was read for the wait is answered before it
            waiting.execute(Sync.of(NodePath.of("/group")));
            await().until(() -> watches() == 0);
        }
    }

    private int watches() {
        return store.faults().watchCount(RecipeAccess.session(waiting).id());
    }
}
