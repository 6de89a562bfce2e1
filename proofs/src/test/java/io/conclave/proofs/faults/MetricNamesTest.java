package io.conclave.proofs.faults;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.LockGrant;
import io.conclave.locks.PermitGrant;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.DataCodec;
import io.conclave.queues.DistributedQueue;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the metrics hook receives: names that say which recipe, each thing once, and all of it in docs/metrics.md. */
class MetricNamesTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** A text in the code that looks like a metric's name: that of a recipe, a dot, and more. */
    private static final Pattern NAME = Pattern.compile(
            "\"((?:lock|lease|election|semaphore|queue|barrier|doublebarrier|latch|membership|config|ids"
                    + "|commit|mirror|session|connection)\\.[a-z.]+)\"");

    /** Any text in the code that may be a metric's name, or a part of one. */
    private static final Pattern TEXT = Pattern.compile("\"([a-z.]+)\"");

    private final Map<String, Integer> told = new ConcurrentHashMap<>();
    private final MetricsHook hook = new MetricsHook() {
        @Override
        public void count(String name, String subject) {
            told.merge(name, 1, Integer::sum);
        }

        @Override
        public void duration(String name, String subject, Duration duration) {
            told.merge(name, 1, Integer::sum);
        }
    };

    @Test
    void eachRecipeIsMeasuredUnderItsOwnName() throws Exception {
        try (Coordinator coordinator =
                Coordinator.builder("memory:").metrics(hook).connect()) {
            try (LockGrant grant = DistributedLock.at(coordinator, "/lock").acquire(PATIENCE)) {
                assertEquals(1, told.get("lock.wait"));
            }
            try (Leadership leadership =
                    LeaderElection.at(coordinator, "/election").campaign(PATIENCE)) {
                assertEquals(1, told.get("election.wait"));
            }
            try (PermitGrant permit =
                    DistributedSemaphore.at(coordinator, "/semaphore", 2).acquire(1, PATIENCE)) {
                assertEquals(1, told.get("semaphore.wait"));
            }
            DistributedQueue<String> queue = DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT);
            queue.put("item");
            queue.take();
        }
        assertEquals(1, told.get("lock.wait"), "the others do not count as locks: " + told);
        for (String once : List.of("lock.held", "lock.released", "semaphore.released", "election.released")) {
            assertEquals(1, told.get(once), once + " of " + told);
        }
        for (String name : List.of("semaphore.admission.wait", "queue.turn.wait", "queue.take")) {
            assertTrue(told.containsKey(name), name + " is not among " + told);
        }
        assertTrue(told.keySet().stream().noneMatch(name -> name.endsWith(".lost")), "nothing was lost: " + told);
    }

    @Test
    void aLostSessionIsCountedOnceOnOurServer() throws Exception {
        SteppingClock clock = new SteppingClock();
        try (Coordinator coordinator = Coordinator.builder("embedded:memory/" + UUID.randomUUID())
                .metrics(hook)
                .timeSource(clock)
                .sessionTimeout(Duration.ofSeconds(30)) // which a busy machine keeps
                .connect()) {
            LockGrant grant = DistributedLock.at(coordinator, "/lock").acquire(PATIENCE);
            long lost = RecipeAccess.session(coordinator).id();
            clock.step(Duration.ofMinutes(1));
            grant.lost().toCompletableFuture().join();
            await().atMost(PATIENCE)
                    .until(() -> coordinator.state() == SessionState.CONNECTED
                            && RecipeAccess.session(coordinator).id() != lost);
            assertEquals(1, told.get("session.lost"));
            assertEquals(1, told.get("lock.lost"));
        }
    }

    @Test
    void aLostSessionIsCountedOnceInMemory() {
        String store = UUID.randomUUID().toString();
        try (Coordinator coordinator =
                Coordinator.builder("memory:" + store).metrics(hook).connect()) {
            MemoryStore.named(store)
                    .faults()
                    .expire(RecipeAccess.session(coordinator).id());
            await().atMost(PATIENCE).until(() -> told.containsKey("session.lost"));
        }
        assertEquals(1, told.get("session.lost"));
    }

    /** The machine's clocks as a process finds them that was stopped for a while. */
    private static final class SteppingClock implements TimeSource {
        private volatile long aheadMs;

        void step(Duration by) {
            aheadMs = by.toMillis();
        }

        @Override
        public long monotonicNanos() {
            return TimeSource.system().monotonicNanos() + aheadMs * 1_000_000;
        }

        @Override
        public long wallMillis() {
            return TimeSource.system().wallMillis() + aheadMs;
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return TimeSource.system().schedule(delay, task);
        }
    }

    /** The code is read, so that a name which no test provokes is in the table as well. */
    @Test
    void everyNameInTheCodeStandsInTheTable() throws IOException {
        MetricsTable table = MetricsTable.read();
        Set<String> names = inTheCode(NAME);
        for (String name : names) {
            assertTrue(
                    table.kinds().containsKey(name) || table.prefixes().contains(name),
                    name + " is not in docs/metrics.md");
        }
        assertTrue(names.size() > 30, "too few names were found to prove anything: " + names);
    }

    @Test
    void everyNameInTheTableStandsInTheCode() throws IOException {
        MetricsTable table = MetricsTable.read();
        Set<String> texts = inTheCode(TEXT);
        Set<String> missing = new TreeSet<>(table.kinds().keySet());
        missing.removeAll(texts);
        for (String prefix : table.prefixes()) {
            for (String suffix : table.suffixes()) {
                if (texts.contains(prefix) && texts.contains(suffix)) {
                    missing.remove(prefix + suffix);
                }
            }
        }
        assertEquals(Set.of(), missing);
        assertTrue(table.kinds().size() > 60, "too few names were found to prove anything: " + table);
    }

    /** What is found in the code that applications use. */
    private static Set<String> inTheCode(Pattern pattern) throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(MetricsTable.top())) {
            for (Path file : (Iterable<Path>) files.filter(MetricNamesTest::isProduct)::iterator) {
                Matcher text = pattern.matcher(Files.readString(file));
                while (text.find()) {
                    found.add(text.group(1));
                }
            }
        }
        return found;
    }

    private static boolean isProduct(Path file) {
        String text = file.toString().replace('\\', '/');
        return text.endsWith(".java")
                && text.contains("/src/main/java/io/conclave/")
                && !text.contains("/testkit/")
                && !text.contains("/benchmarks/")
                && !text.contains("/examples/");
    }
}
