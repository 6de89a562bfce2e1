package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What a group promises to those who wait until it settles. */
abstract class GroupSettlingContract extends GroupViewContract {
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration LONG = Duration.ofHours(1);

    @Test
    void settledGroupIsToldWithItsMembersInOrder() throws Exception {
        Coordinator coordinator = connect();
        Group<String> group = groupOf(connect());
        groupOf(coordinator).join("b", "two", PATIENCE);
        groupOf(coordinator).join("a", "one", PATIENCE);
        assertEquals(List.of("a=one", "b=two"), texts(get(group.settled(SHORT))));
        assertEquals(List.of("a=one", "b=two"), texts(get(group.settled(Duration.ZERO))));
        assertEquals(List.of("a=one", "b=two"), texts(group.awaitSettled(SHORT, PATIENCE)));
    }

    @Test
    void groupThatDoesNotExistSettlesWithoutMembers() throws Exception {
        assertEquals(List.of(), get(groupOf(connect()).settled(SHORT)));
    }

    @Test
    void groupThatDoesNotSettleInTimeIsNamed() throws Exception {
        Group<String> group = groupOf(connect());
        CompletableFuture<List<Member<String>>> waiting = group.settled(LONG);
        WaitTimeoutException late = assertThrows(WaitTimeoutException.class, () -> group.awaitSettled(LONG, SHORT));
        assertTrue(late.getMessage().contains(PATH), late::getMessage);
        assertFalse(waiting.isDone());
        waiting.cancel(false);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> group.settled(Duration.ofMillis(-1)))
                .getMessage()
                .contains("PT-0.001S"));
    }

    @Test
    void closedCoordinatorEndsTheWait() {
        Coordinator coordinator = connect();
        CompletableFuture<List<Member<String>>> waiting = groupOf(coordinator).settled(LONG);
        coordinator.close();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiting.get(120, SECONDS));
        assertInstanceOf(ClosedException.class, failure.getCause());
    }

    @Test
    void waitGoesOnAfterALostSession() throws Exception {
        Coordinator other = connect(); // the store in memory goes by the clock of the first one
        groupOf(other).join("a", "one", PATIENCE);
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        CompletableFuture<List<Member<String>>> waiting = groupOf(coordinator).settled(Duration.ofSeconds(1));
        loseSession(coordinator, clock);
        assertEquals(List.of("a=one"), texts(get(waiting)));
    }
}
