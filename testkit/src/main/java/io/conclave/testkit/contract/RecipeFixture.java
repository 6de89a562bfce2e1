package io.conclave.testkit.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;

/**
 * Where the tests of a recipe's contract work: coordinators of the store under test, and threads, all of them gone
 * after each test; a look at the znodes; and clocks by which a coordinator loses its session. A recipe's own fixture
 * extends it with what the recipe has.
 */
public abstract class RecipeFixture implements StoreUnderTest {
    /** How long a test waits for what must come. */
    protected static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Duration TICK = Duration.ofMillis(10);
    private static final String IN_MEMORY = "memory:";

    /** Where a test runs what blocks; interrupted after it. */
    protected final ExecutorService threads = Executors.newCachedThreadPool();

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    private final MovingClocks clocks = new MovingClocks();
    private final ManualTimeSource patientClock = clocks.add(true);

    @AfterEach
    final void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
        clocks.close();
    }

    /**
     * A coordinator's reads see what other coordinators have written, also where servers lag: the recipes do not depend
     * on that, the tests do. Its tries wait for an answer for as long as a busy machine needs. The store in memory goes
     * by its clients' clock, so there it can be a patient one.
     */
    protected final CoordinatorBuilder builder() {
        CoordinatorBuilder builder = Coordinator.builder(connectString())
                .sessionTimeout(sessionTimeout())
                .tryTimeout(PATIENCE)
                .linearizableReads(true);
        tls().ifPresent(builder::tls);
        if (isInMemory()) {
            memoryStore(); // it goes by the patient clock, whatever clock its first client has
            builder.timeSource(patientClock);
        }
        return builder;
    }

    /**
     * The store in memory under test, for tests that look into it or break something.
     *
     * @throws IllegalStateException if a test has made it on the machine's clocks, by which a busy machine loses the
     *     sessions of its patient clients
     */
    protected final MemoryStore memoryStore() {
        MemoryStore store = MemoryStore.named(connectString().substring(IN_MEMORY.length()), patientClock);
        if (store.time() == TimeSource.system()) {
            throw new IllegalStateException("The store " + connectString()
                    + " goes by the machine's clocks: take it from memoryStore() also where nothing has connected");
        }
        return store;
    }

    private boolean isInMemory() {
        return connectString().startsWith(IN_MEMORY);
    }

    /** Another coordinator on the store under test. */
    protected final Coordinator connect() {
        return opened(builder());
    }

    /** The coordinator that this makes; it is closed after the test. */
    protected final Coordinator opened(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    /** What stands below the path now; nothing where there is no such znode. */
    public static List<String> children(Coordinator coordinator, String path) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    /** Waits until so many znodes stand below the path. */
    protected static void awaitChildren(Coordinator coordinator, String path, int count) {
        await().atMost(PATIENCE).until(() -> children(coordinator, path).size() == count);
    }

    /** What the stage comes to, with patience. */
    protected static <T> T get(CompletableFuture<T> stage) throws Exception {
        return stage.get(PATIENCE.toSeconds(), SECONDS);
    }

    /** A clock that goes as the machine's does, and can jump or be stopped. */
    protected final ManualTimeSource jumpingClock() {
        return clocks.add(isInMemory());
    }

    /**
     * Stops a clock that goes: its process sends no heartbeat from now on, as one that is suspended. One whose clock
     * stands from the beginning may lose its session before it has what the test is about.
     */
    protected final void stop(ManualTimeSource jumpingClock) {
        clocks.stop(jumpingClock);
    }

    /**
     * The clock jumps, so that the coordinator must give its session up by itself, and it has another one; the server
     * knows nothing of that yet.
     */
    protected final void loseSession(Coordinator coordinator, ManualTimeSource jumpingClock) {
        long lost = RecipeAccess.session(coordinator).id();
        jumpingClock.advanceWallOnly(sessionTimeout().multipliedBy(3)); // as a suspended machine sees it on waking
        await().atMost(PATIENCE).until(() -> hasAnotherSession(coordinator, lost));
    }

    /** Lets time pass, by a clock that stands otherwise, until the coordinator has another session than now. */
    protected static void awaitNextSession(Coordinator coordinator, ManualTimeSource standingClock) {
        long lost = RecipeAccess.session(coordinator).id();
        standingClock.advanceUntil(TICK, () -> hasAnotherSession(coordinator, lost));
    }

    private static boolean hasAnotherSession(Coordinator coordinator, long lost) {
        long present = RecipeAccess.session(coordinator).id();
        return present != 0 && present != lost && coordinator.state() == SessionState.CONNECTED;
    }
}
