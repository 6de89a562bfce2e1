package io.conclave.commit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the contracts work: coordinators that are closed after each of them, threads, and a look at the znodes. */
abstract class CommitFixture implements StoreUnderTest {
    static final String PATH = "/transfers";
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
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

    static List<String> children(Coordinator coordinator, String path) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    /** Waits until nothing of any transaction is left but the parents. */
    static void awaitNothingLeft(Coordinator coordinator, String... sites) {
        await().atMost(PATIENCE).until(() -> {
            List<String> left = new ArrayList<>(children(coordinator, PATH + "/transactions"));
            for (String site : sites) {
                left.addAll(children(coordinator, PATH + "/sites/" + site));
            }
            return left.isEmpty();
        });
    }

    static <T> T get(CompletableFuture<T> stage) throws Exception {
        return stage.get(20, SECONDS);
    }
}
