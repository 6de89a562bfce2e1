package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.recipe.RecipeSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a view says of itself when an event is heard right before the connection is lost. */
class SuspendedViewTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore(new ManualTimeSource()); // no session expires

    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator members = store.connect();
    private final Coordinator viewer = store.opened(store.builder().timeSource(clock));

    private static Group<String> group(Coordinator coordinator) {
        return Group.at(coordinator, "/group", DataCodec.TEXT);
    }

    /** Waits for what the dispatcher was given until now, and for what that has given to it. */
    private static void awaitDispatcher(RecipeSession session) throws Exception {
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Void> reached = new CompletableFuture<>();
            session.execute(() -> reached.complete(null));
            reached.get(120, SECONDS);
        }
    }

    @Test
    void viewIsNotCurrentWhenAMemberHasLeftRightBeforeTheConnectionIsLost() throws Exception {
        Membership<String> leaving = group(members).join("a", "one");
        group(members).join("b", "two");
        RecipeSession session = RecipeAccess.session(viewer);
        Faults faults = store.faults();
        try (GroupView<String> view = group(viewer).view()) {
            await().atMost(PATIENCE)
                    .until(() -> view.isCurrent() && view.snapshot().size() == 2);
            CountDownLatch held = new CountDownLatch(1);
            session.execute(() -> awaitUninterruptibly(held));
            leaving.close();
            faults.suspend(session.id());
            held.countDown();
            awaitDispatcher(session);
            await().atMost(PATIENCE).until(() -> view.snapshot().byId().keySet().equals(Set.of("b")));
            assertFalse(view.isCurrent());
            clock.advance(Duration.ofSeconds(1));
            assertTrue(view.age().compareTo(Duration.ofSeconds(1)) >= 0, () -> "age " + view.age());
            faults.restore(session.id());
            await().atMost(PATIENCE).until(view::isCurrent);
            assertEquals(Duration.ZERO, view.age());
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
