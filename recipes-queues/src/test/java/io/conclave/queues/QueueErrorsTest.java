package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.contract.TestStore;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A failure of all waiting consumers reaches each of them with its own stack. */
class QueueErrorsTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.connect();

    private SessionGoneException takeOnOneThread(DistributedQueue<String> queue) {
        return assertThrows(SessionGoneException.class, queue::take);
    }

    private SessionGoneException takeOnAnother(DistributedQueue<String> queue) {
        return assertThrows(SessionGoneException.class, queue::take);
    }

    private static boolean shows(Throwable failure, String method) {
        return Arrays.stream(failure.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @Test
    void eachOfManyCallersSeesItsOwnStack() throws Exception {
        DistributedQueue<String> queue = DistributedQueue.at(coordinator, "/queues/orders", DataCodec.TEXT);
        long session = RecipeAccess.session(coordinator).id();
        FutureTask<SessionGoneException> one = new FutureTask<>(() -> takeOnOneThread(queue));
        FutureTask<SessionGoneException> other = new FutureTask<>(() -> takeOnAnother(queue));
        List<Thread> callers = List.of(new Thread(one), new Thread(other));
        callers.forEach(Thread::start);
        await().until(() -> callers.stream().allMatch(caller -> caller.getState() == Thread.State.WAITING));
        store.faults().expire(session);
        SessionGoneException first = one.get(120, SECONDS);
        SessionGoneException second = other.get(120, SECONDS);
        assertNotSame(first, second);
        assertTrue(shows(first, "takeOnOneThread"));
        assertTrue(shows(second, "takeOnAnother"));
        assertInstanceOf(SessionGoneException.class, first.getCause());
        assertArrayEquals(new Throwable[0], first.getSuppressed());
    }
}
