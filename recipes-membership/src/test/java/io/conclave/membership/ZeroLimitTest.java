package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.NotConnectedException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With a limit of zero the store's answer decides, and no other member is waited for. */
@Timeout(300)
class ZeroLimitTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource(); // so nothing ends by its time
    private final Coordinator coordinator = store.connect(clock);
    private final Coordinator other = store.connect(clock);
    private final Group<String> group = Group.at(coordinator, "/group", DataCodec.TEXT);

    @Test
    void memberJoinsIfItsIdIsFree() throws Exception {
        Membership<String> membership = group.join("a", "first", Duration.ZERO);
        assertTrue(membership.isMember());
        Group<String> others = Group.at(other, "/group", DataCodec.TEXT);
        AcquireTimeoutException taken =
                assertThrows(AcquireTimeoutException.class, () -> others.join("a", "second", Duration.ZERO));
        assertTrue(taken.holder().isPresent(), taken::getMessage);
        assertThrows(AcquireTimeoutException.class, () -> group.join("a", "of the same coordinator", Duration.ZERO));
        Quiescence.await(faults, List.of(coordinator, other));
        assertEquals(0, faults.watchCount(RecipeAccess.session(other).id()));
        membership.close();
        others.joinAsync("a", "second", Duration.ZERO).get(120, SECONDS);
    }

    @Test
    void memberDoesNotWaitForOneThatLeaves() throws Exception {
        Membership<String> first = group.join("a", "first");
        long session = RecipeAccess.session(coordinator).id();
        faults.holdReplies(session);
        CompletableFuture<Void> left = first.closeAsync();
        CompletableFuture<Membership<String>> second = group.joinAsync("a", "second", Duration.ZERO);
        CompletableFuture<Membership<String>> third = group.joinAsync("a", "third", Duration.ZERO);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> third.get(120, SECONDS));
        assertInstanceOf(AcquireTimeoutException.class, failure.getCause(), "the second comes before it");
        faults.releaseReplies(session);
        left.get(120, SECONDS);
        assertTrue(second.get(120, SECONDS).isMember());
    }

    @Test
    void withoutAnAnswerItEndsWithinTheTryTimeout() throws Exception {
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        CompletableFuture<Membership<String>> joining = group.joinAsync("a", "payload", Duration.ZERO);
        clock.advanceUntil(Duration.ofMillis(100), joining::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, joining::get);
        assertInstanceOf(NotConnectedException.class, failure.getCause());
    }
}
