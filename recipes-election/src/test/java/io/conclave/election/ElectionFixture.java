package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
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
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the election's contract work: coordinators that are closed after each of them, threads, and a look at the line. */
abstract class ElectionFixture implements StoreUnderTest {
    static final String PATH = "/elections/billing";
    static final NodePath ACKNOWLEDGEMENT = NodePath.of(PATH + "/leader");
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

    static LeaderElection electionOf(Coordinator coordinator) {
        return LeaderElection.at(coordinator, PATH);
    }

    static LeaderElection electionOf(Coordinator coordinator, String name) {
        return electionOf(coordinator).withData(name.getBytes(UTF_8));
    }

    static List<String> children(Coordinator coordinator) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(PATH))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    static void awaitCandidates(Coordinator coordinator, int count) {
        await().atMost(PATIENCE)
                .until(() -> electionOf(coordinator).candidates().size() == count);
    }

    static void awaitNothingLeft(Coordinator coordinator) {
        await().atMost(PATIENCE).until(() -> children(coordinator).isEmpty());
    }

    static List<String> names(LeaderElection election) throws InterruptedException {
        return election.candidates().stream().map(Candidate::text).toList();
    }

    /** The candidate of that name. */
    static Candidate candidate(LeaderElection election, String name) throws InterruptedException {
        return election.candidates().stream()
                .filter(one -> one.text().equals(name))
                .findFirst()
                .orElseThrow();
    }

    static <T> T get(CompletableFuture<T> stage) throws Exception {
        return stage.get(20, SECONDS);
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

    /** What an observer was told, as text; "-" for no leader. */
    static final class Told implements Consumer<Optional<Leader>> {
        final List<String> states = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void accept(Optional<Leader> leader) {
            states.add(leader.map(Leader::text).orElse("-"));
        }

        String last() {
            synchronized (states) {
                return states.isEmpty() ? "" : states.get(states.size() - 1);
            }
        }

        void awaitLast(String state) {
            await("told " + states).atMost(PATIENCE).until(() -> last().equals(state));
        }
    }
}
