package io.conclave.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A session under test: asks and waits, and remembers what it was told. */
final class SessionProbe {
    static final Duration PATIENCE = Duration.ofMinutes(2);

    final BackendSession session;
    final List<SessionState> states;

    private SessionProbe(BackendSession session, List<SessionState> states) {
        this.session = session;
        this.states = states;
    }

    /** Opens a session and waits for its first connection. */
    static SessionProbe open(Backend backend) {
        List<SessionState> states = new CopyOnWriteArrayList<>();
        SessionProbe probe = new SessionProbe(backend.openSession(states::add), states);
        probe.awaitState(SessionState.CONNECTED);
        return probe;
    }

    void awaitState(SessionState expected) {
        Awaitility.await(expected.toString())
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> states.contains(expected));
    }

    /** The answer; what the request failed with is thrown as it is. */
    <R> R ask(Request<R> request) {
        return await(request.describe(), session.submit(request));
    }

    /** The refusal with which a request must fail. */
    RefusedException refusal(Request<?> request) {
        return assertThrows(RefusedException.class, () -> ask(request), request.describe());
    }

    /** The reason with which a request must be refused. */
    RefusalReason refused(Request<?> request) {
        return refusal(request).reason();
    }

    /** Waits until all that came before now has been delivered. */
    void flush() {
        CompletableFuture<@Nullable Void> flushed = new CompletableFuture<>();
        session.dispatcher().execute(() -> flushed.complete(null));
        await("flush", flushed);
    }

    static <R> R await(String what, CompletionStage<R> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw assertInstanceOf(RuntimeException.class, e.getCause(), what);
        } catch (TimeoutException e) {
            throw new AssertionError(what + ": no answer within " + PATIENCE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(what + ": interrupted", e);
        }
    }

    /** Remembers events, but for the news of its own removal. */
    static final class Events implements Watcher {
        private final List<NodeEvent> seen = new CopyOnWriteArrayList<>();

        @Override
        public void onEvent(NodeEvent event) {
            if (event.type() != NodeEvent.Type.WATCH_REMOVED) {
                seen.add(event);
            }
        }

        List<NodeEvent> seen() {
            return List.copyOf(seen);
        }

        List<String> texts() {
            return seen.stream()
                    .map(event -> event.type() + " " + event.path().name())
                    .toList();
        }

        /** Waits for so many events and returns them as "TYPE name". */
        List<String> await(int count) {
            Awaitility.await(count + " events, seen: " + seen)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> seen.size() >= count);
            return texts();
        }
    }
}
