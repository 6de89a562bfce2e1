package io.conclave.election;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.SessionFollower;
import io.conclave.testkit.memory.MemoryStore;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A task, such as a close, that comes between the end of one session and the beginning of the work on the next. */
class SessionFollowerTest extends ElectionFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    private static void await5s(CountDownLatch latch) {
        try {
            latch.await(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean await1s(CountDownLatch latch) {
        try {
            return latch.await(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Test
    void taskDoesNotRunOnTheOldDispatcherWhileTheWorkBeginsOnTheNext() throws Exception {
        Coordinator coordinator = connect();
        RecipeSession first = RecipeAccess.session(coordinator);
        CountDownLatch taskRuns = new CountDownLatch(1);
        CountDownLatch nextBegun = new CountDownLatch(1);
        CountDownLatch sessionEnded = new CountDownLatch(1);
        AtomicBoolean together = new AtomicBoolean();
        List<RecipeSession> begun = new CopyOnWriteArrayList<>();
        SessionFollower follower = new SessionFollower(coordinator, new SessionFollower.Work() {
            @Override
            public void onSession(RecipeSession next) {
                begun.add(next);
                if (next != first) {
                    nextBegun.countDown();
                }
            }

            @Override
            public void onSessionEnded() {
                // The next dispatcher is busy for a moment, as with the listeners of other recipes.
                RecipeAccess.session(coordinator).execute(() -> await5s(taskRuns));
                sessionEnded.countDown();
            }

            @Override
            public void onClosed() {}
        });
        follower.follow();
        await().until(() -> begun.size() == 1);
        MemoryStore.named(store).faults().expire(first.id());
        assertTrue(sessionEnded.await(120, TimeUnit.SECONDS));

        CountDownLatch taskOver = new CountDownLatch(1);
        follower.execute(
                () -> { // as close() does
                    if (!follower.isEnded()) {
                        taskRuns.countDown();
                        boolean isBegunBefore = nextBegun.getCount() == 0;
                        together.set(!isBegunBefore && await1s(nextBegun));
                        follower.end();
                    }
                    taskOver.countDown();
                });
        assertTrue(taskOver.await(120, TimeUnit.SECONDS));
        assertFalse(together.get(), "the work began on the next session during a task of the same follower");
    }
}
