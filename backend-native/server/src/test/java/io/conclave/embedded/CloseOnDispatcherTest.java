package io.conclave.embedded;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.session.SessionState;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The dispatcher is the event loop of the client, and of an embedded server: it cannot wait for its own end. */
@Timeout(300)
class CloseOnDispatcherTest {
    @TempDir
    private Path directory;

    private static void closeOnDispatcher(Coordinator coordinator) throws Exception {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        RecipeAccess.session(coordinator).execute(() -> {
            try {
                coordinator.close();
                failure.complete(null);
            } catch (RuntimeException | Error e) {
                failure.complete(e);
            }
        });
        assertNull(failure.get(120, TimeUnit.SECONDS));
    }

    @Test
    void theServerEndsAndItsDirectoryIsFree() throws Exception {
        String place = "embedded:" + directory.resolve("store");
        closeOnDispatcher(Coordinator.connect(place));
        try (Coordinator next = Coordinator.connect(place)) {
            next.execute(Create.of(NodePath.of("/a")));
        }
    }

    @Test
    void theStoreInMemoryEnds() throws Exception {
        closeOnDispatcher(Coordinator.connect("embedded:memory/closed-on-dispatcher"));
        try (Coordinator next = Coordinator.connect("embedded:memory/closed-on-dispatcher")) {
            next.execute(Create.of(NodePath.of("/a")));
        }
    }

    /** Hooks must not block; one that closes the coordinator is still told no lie and holds up nobody for long. */
    @Test
    void aMetricsHookMayClose() throws Exception {
        CompletableFuture<Coordinator> made = new CompletableFuture<>();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        MetricsHook hook = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                Coordinator coordinator = made.getNow(null);
                if (coordinator != null && name.equals("session.closing.test")) {
                    coordinator.close();
                    closed.complete(null);
                }
            }
        };
        Coordinator coordinator = Coordinator.builder("embedded:memory/closed-by-hook")
                .metrics(hook)
                .connect();
        made.complete(coordinator);
        RecipeAccess.session(coordinator)
                .execute(() -> RecipeAccess.session(coordinator).metrics().count("session.closing.test", ""));
        closed.get(120, TimeUnit.SECONDS);
        await().until(() -> coordinator.state() == SessionState.CLOSED);
    }
}
