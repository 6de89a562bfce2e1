package io.conclave.locks;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the lock's contract work: coordinators that are closed after each of them, threads, and a look at the line. */
abstract class LockFixture implements StoreUnderTest {
    static final String PATH = "/locks/orders";
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

    static DistributedLock lockOf(Coordinator coordinator) {
        return DistributedLock.at(coordinator, PATH);
    }

    static List<String> children(Coordinator coordinator) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(PATH))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    static void awaitMembers(Coordinator coordinator, int count) {
        await().atMost(PATIENCE).until(() -> children(coordinator).size() == count);
    }

    /** Lets time pass until the coordinator has another session than now. */
    static void awaitNextSession(Coordinator coordinator, ManualTimeSource clock) {
        long lost = coordinator.recipeSession().id();
        await().atMost(PATIENCE).until(() -> {
            clock.advance(Duration.ofMillis(10));
            long present = coordinator.recipeSession().id();
            return present != 0 && present != lost && coordinator.state() == SessionState.CONNECTED;
        });
    }
}
