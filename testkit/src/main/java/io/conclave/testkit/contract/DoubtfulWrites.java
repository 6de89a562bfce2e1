package io.conclave.testkit.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.recipe.Waiting;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Where tests of calls work whose write has lost its reply, and whose look for what became of it is refused, or is cut
 * short: that says nothing of the write, which has taken effect.
 */
public abstract class DoubtfulWrites {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);

    @RegisterExtension
    final TestStore store = new TestStore();

    /** What may go wrong. */
    protected final Faults faults = store.faults();

    private final ManualTimeSource clock = new ManualTimeSource();

    /** Whose calls are tested. */
    protected final Coordinator coordinator = store.connect(clock);

    /** The next write of the call meets that fate; so many looks behind it are refused. */
    protected final <T> CompletableFuture<T> write(
            Supplier<CompletableFuture<T>> call, RequestFate fate, RefusalReason reason, int looks) {
        AtomicInteger left = new AtomicInteger();
        faults.refuse(request -> request.isRead() && left.getAndUpdate(one -> Math.max(0, one - 1)) > 0, reason);
        faults.onNext(
                request -> {
                    if (!request.isRead()) {
                        left.set(looks);
                    }
                    return !request.isRead();
                },
                fate);
        CompletableFuture<T> outcome = call.get();
        clock.advanceUntil(STEP, outcome::isDone);
        return outcome;
    }

    /** What the call gives if looks are refused at first. */
    protected final <T> T isFoundOut(Supplier<CompletableFuture<T>> call) {
        return write(call, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3)
                .join();
    }

    /** The outcome of the call is unknown if every look is refused. */
    protected final void isUnknown(Supplier<CompletableFuture<?>> call) {
        CompletableFuture<?> outcome = write(
                () -> call.get().thenApply(any -> any),
                RequestFate.DROP_AFTER,
                RefusalReason.AUTH_FAILED,
                Integer.MAX_VALUE);
        Throwable failure = Waiting.cause(assertThrows(CompletionException.class, outcome::join));
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
    }

    /** The outcome of the call is unknown if the coordinator is closed before a look is answered. */
    protected final void isUnknownIfClosed(Supplier<CompletableFuture<?>> call) {
        faults.reconnectAfter(Duration.ofMinutes(1));
        faults.onNext(request -> !request.isRead(), RequestFate.DROP_AFTER);
        CompletableFuture<?> outcome = call.get();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        coordinator.close();
        Throwable failure = Waiting.cause(
                assertThrows(ExecutionException.class, () -> outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)));
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
    }
}
