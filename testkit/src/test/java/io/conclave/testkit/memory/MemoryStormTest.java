package io.conclave.testkit.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;

/** Many threads, many sessions, connections that break all the time: order and honesty of the outcomes. */
class MemoryStormTest {
    private static final int SESSIONS = 4;
    private static final int REQUESTS = 150;
    private static final NodePath ROOT = NodePath.of("/storm");

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final MemoryStore store = new MemoryStore(TimeSource.system());
    private final BackendOptions options = new BackendOptions(
            Duration.ofSeconds(60),
            TimeSource.system(),
            threads,
            List.of(),
            Acl.OPEN,
            10_000,
            MetricsHook.NONE,
            true,
            Optional.empty());
    private final MemoryBackend backend = new MemoryBackend(store, options);

    @AfterEach
    void stop() {
        backend.close();
        threads.shutdown();
    }

    @RepeatedTest(20)
    void answeredRequestsTookEffectInOrderAndRequestsDroppedBeforeDidNot() throws Exception {
        long seed = new Random().nextLong();
        Random faultsOfRequests = new Random(seed);
        Set<String> dropped = Collections.synchronizedSet(new TreeSet<>());
        BackendSession witness = backend.openSession(state -> {});
        get(witness.submit(Create.of(ROOT)).toCompletableFuture());
        store.faults().intercept((sessionId, request, index) -> {
            RequestFate decision = RequestFate.PROCEED;
            if (request instanceof Create create) {
                decision = switch (faultsOfRequests.nextInt(20)) {
                    case 0 -> RequestFate.DROP_BEFORE;
                    case 1 -> RequestFate.DROP_AFTER;
                    case 2 -> RequestFate.DROP_AND_APPLY_LATE;
                    default -> RequestFate.PROCEED;
                };
                if (decision == RequestFate.DROP_BEFORE) {
                    dropped.add(create.path().name());
                }
            }
            return decision;
        });

        List<CompletableFuture<Outcomes>> all = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            int number = i;
            all.add(CompletableFuture.supplyAsync(() -> run(number), threads));
        }
        Set<String> answered = new TreeSet<>();
        Set<String> unknown = new TreeSet<>();
        for (CompletableFuture<Outcomes> one : all) {
            Outcomes outcomes = get(one);
            assertEquals(REQUESTS, outcomes.order.size(), "seed " + seed);
            assertEquals(outcomes.order.stream().sorted().toList(), outcomes.order, "seed " + seed);
            answered.addAll(outcomes.answered);
            unknown.addAll(outcomes.unknown);
        }
        store.faults().clear();
        Set<String> there = new TreeSet<>(
                get(witness.submit(GetChildren.of(ROOT)).toCompletableFuture()).names());
        Set<String> expected = new TreeSet<>(answered);
        expected.addAll(unknown);
        expected.removeAll(dropped);
        assertEquals(expected, there, "seed " + seed);
        assertTrue(unknown.containsAll(dropped), "seed " + seed);
    }

    private static final class Outcomes {
        final List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        final Set<String> answered = Collections.synchronizedSet(new TreeSet<>());
        final Set<String> unknown = Collections.synchronizedSet(new TreeSet<>());
    }

    private Outcomes run(int number) {
        Outcomes outcomes = new Outcomes();
        BackendSession session = backend.openSession(state -> {});
        List<CompletableFuture<?>> done = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Boolean> submitted = new CompletableFuture<>();
        session.dispatcher().execute(() -> {
            for (int i = 0; i < REQUESTS; i++) {
                int position = i;
                String name = number + "-" + i;
                done.add(session.submit(Create.of(ROOT.child(name)))
                        .handle((created, failure) -> {
                            outcomes.order.add(position);
                            if (failure instanceof OutcomeUnknownException) {
                                outcomes.unknown.add(name);
                            } else if (failure == null) {
                                outcomes.answered.add(name);
                            } else {
                                throw new AssertionError(name, failure);
                            }
                            return name;
                        })
                        .toCompletableFuture());
            }
            submitted.complete(true);
        });
        try {
            get(submitted);
            for (CompletableFuture<?> one : done) {
                get(one);
            }
        } catch (Exception e) {
            throw new ClosedException("storm " + number, e);
        }
        return outcomes;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(120, TimeUnit.SECONDS);
    }
}
