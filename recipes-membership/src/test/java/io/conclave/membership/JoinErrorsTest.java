package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A member that cannot join because its id is taken learns the member that has it. */
class JoinErrorsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final String store = UUID.randomUUID().toString();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator here = connect();
    private final Coordinator there = connect();

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .timeSource(clock)
                .connect();
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        here.close();
        there.close();
        MemoryStore.forget(store);
    }

    private static Group<String> group(Coordinator coordinator) {
        return Group.at(coordinator, "/groups/workers", DataCodec.TEXT);
    }

    private Future<AcquireTimeoutException> joining() {
        return threads.submit(() ->
                assertThrows(AcquireTimeoutException.class, () -> group(here).join("host-7", "second", TIMEOUT)));
    }

    private AcquireTimeoutException late(Future<AcquireTimeoutException> joining) throws Exception {
        for (int i = 0; i < 4; i++) {
            here.execute(Exists.of(NodePath.ROOT)); // what was asked before is answered then
        }
        clock.advanceUntil(TIMEOUT, joining::isDone);
        return joining.get(120, SECONDS);
    }

    @Test
    void memberOfAnotherProcessIsNamedByItsSession() throws Exception {
        try (Membership<String> first = group(there).join("host-7", "first")) {
            Future<AcquireTimeoutException> joining = joining();
            long session = RecipeAccess.session(here).id();
            await().until(() -> MemoryStore.named(store).faults().watchCount(session) > 0);
            AcquireTimeoutException late = late(joining);
            assertEquals("/groups/workers/host-7", late.path());
            assertEquals("first", late.holder().orElseThrow().text());
            assertEquals(
                    "Did not join as /groups/workers/host-7 within 1 s: its id is taken by a member with the session 0x"
                            + Long.toHexString(RecipeAccess.session(there).id()),
                    late.getMessage());
            assertEquals(MembershipState.MEMBER, first.state());
        }
    }

    @Test
    void memberOfTheSameCoordinatorIsSaidToBeOne() throws Exception {
        try (Membership<String> first = group(here).join("host-7", "first")) {
            int timers = clock.pendingTimers();
            Future<AcquireTimeoutException> joining = joining();
            await().until(() -> clock.pendingTimers() > timers); // the limit of time is counted
            AcquireTimeoutException late = late(joining);
            assertTrue(late.getMessage().endsWith("another membership of this coordinator"), late.getMessage());
            assertEquals(MembershipState.MEMBER, first.state());
        }
    }
}
