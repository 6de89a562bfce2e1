package io.conclave.config;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.SessionState;
import io.conclave.spi.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.StoreUnderTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the contract work: coordinators that are closed after each of them, and threads. */
abstract class ConfigFixture implements StoreUnderTest {
    private static final Duration TICK = Duration.ofMillis(10);
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
        timer.shutdownNow();
    }

    /** Its reads see what other coordinators have written, also where servers lag: the recipes do not depend on that, the tests do. */
    final CoordinatorBuilder builder() {
        return Coordinator.builder(connectString())
                .sessionTimeout(sessionTimeout())
                .linearizableReads(true);
    }

    final Coordinator connect() {
        return opened(builder());
    }

    final Coordinator opened(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    static void create(Coordinator coordinator, String path, String text) throws InterruptedException {
        coordinator.execute(Create.of(NodePath.of(path)).withData(text.getBytes(StandardCharsets.UTF_8)));
    }

    static void set(Coordinator coordinator, String path, String text) throws InterruptedException {
        coordinator.execute(SetData.of(NodePath.of(path), text.getBytes(StandardCharsets.UTF_8)));
    }

    static void delete(Coordinator coordinator, String path) throws InterruptedException {
        coordinator.execute(Delete.of(NodePath.of(path)));
    }

    static <T> T get(CompletableFuture<T> stage) throws Exception {
        return stage.get(20, SECONDS);
    }

    /** A clock that goes as the machine's does, and can jump. */
    final ManualTimeSource jumpingClock() {
        ManualTimeSource clock = new ManualTimeSource();
        timer.scheduleAtFixedRate(() -> clock.advance(TICK), 0, TICK.toMillis(), MILLISECONDS);
        return clock;
    }

    /** The clock jumps, so that the coordinator must give its session up by itself, and it has another one. */
    final void loseSession(Coordinator coordinator, ManualTimeSource clock) {
        long lost = coordinator.recipeSession().id();
        clock.advanceWallOnly(sessionTimeout().multipliedBy(3)); // as a suspended machine sees it on waking
        await().atMost(PATIENCE).until(() -> {
            long present = coordinator.recipeSession().id();
            return present != 0 && present != lost && coordinator.state() == SessionState.CONNECTED;
        });
    }
}
