package io.conclave.consensus.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.testkit.proxy.FreePort;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members of an ensemble in this JVM, with real threads, links and directories. */
class EnsembleLogTest {
    private static final int SNAPSHOT_EVERY = 20;

    @TempDir
    Path directory;

    private final ExecutorService background = Executors.newFixedThreadPool(4);
    private final ScheduledExecutorService delayed = Executors.newScheduledThreadPool(1);
    private final AtomicReference<LogException> fatal = new AtomicReference<>();
    private final Map<Integer, EnsembleMember> members = new TreeMap<>();
    private final Map<Integer, EnsembleLog> logs = new HashMap<>();
    private final Map<Integer, SumMachine> machines = new HashMap<>();

    @BeforeEach
    void chooseAddresses() {
        for (int id = 1; id <= 3; id++) {
            members.put(id, new EnsembleMember(id, 0, "127.0.0.1", FreePort.find(), "", 0, false));
        }
    }

    @AfterEach
    void stop() {
        logs.values().forEach(EnsembleLog::close);
        background.shutdownNow();
        delayed.shutdownNow();
        assertEquals(null, fatal.get());
    }

    /** Adds numbers up. */
    private static final class SumMachine implements StateMachine, LogListener {
        volatile long sum;
        volatile boolean serving;
        volatile long leadingTerm;

        @Override
        public void begin(UUID clusterId) {}

        @Override
        public void apply(CommittedBatch batch) {
            for (CommittedEntry entry : batch.entries()) {
                if (entry.kind() == LogEntryKind.APPLICATION) {
                    sum += ByteBuffer.wrap(entry.payload()).getLong();
                }
                if (entry.origin() instanceof Addition addition) {
                    addition.done.countDown();
                }
            }
        }

        @Override
        public StateSnapshot snapshot() {
            long now = sum;
            return out -> new DataOutputStream(out).writeLong(now);
        }

        @Override
        public void drop() {
            sum = 0;
        }

        @Override
        public Runnable read(InputStream snapshot) throws IOException {
            long read = new DataInputStream(snapshot).readLong();
            return () -> sum = read;
        }

        @Override
        public void leading(long term) {
            leadingTerm = term;
        }

        @Override
        public void deposed() {
            leadingTerm = 0;
        }

        @Override
        public boolean noted(int member, byte[] note) {
            return true;
        }

        @Override
        public void told(int member, byte[] note) {}

        @Override
        public void serving(boolean now) {
            serving = now;
        }

        @Override
        public void configured(ClusterConfiguration configuration) {}
    }

    private record Addition(long number, CountDownLatch done) implements Proposal {
        Addition(long number) {
            this(number, new CountDownLatch(1));
        }

        @Override
        public byte[] payload() {
            return ByteBuffer.allocate(100).putLong(number).array();
        }

        @Override
        public void rejected(Rejection reason) {}
    }

    private void start(int id, boolean durable) {
        start(id, durable, members);
    }

    private void start(int id, boolean durable, Map<Integer, EnsembleMember> members) {
        LogOptions options = LogOptions.builder(
                        System::currentTimeMillis,
                        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
                        background,
                        (delayMs, action) -> delayed.schedule(action, delayMs, TimeUnit.MILLISECONDS),
                        fatal::set)
                .memberId(id)
                .members(members)
                .bootstrap(id == 1)
                .segmentBytes(8 << 20)
                .snapshotEveryEntries(SNAPSHOT_EVERY)
                .heartbeatMs(50)
                .electionTimeoutMs(500)
                .build();
        EnsembleLog log = durable
                ? EnsembleLog.on(RealDisk.in(directory.resolve("member-" + id)), options)
                : EnsembleLog.inMemory(options);
        SumMachine machine = new SumMachine();
        logs.put(id, log);
        machines.put(id, machine);
        log.start(machine, machine);
    }

    private void startAll(boolean durable) {
        for (int id = 1; id <= 3; id++) {
            start(id, durable);
        }
        awaitAllVote();
    }

    private void awaitAllVote() {
        await("all vote").until(() -> logs.values().stream()
                .allMatch(log -> log.status().configuration().voters().equals(Set.of(1, 2, 3))
                        && !log.status().configuration().isJoint()));
        await("all serve").until(() -> machines.values().stream().allMatch(machine -> machine.serving));
    }

    private void add(int through, long number) throws InterruptedException {
        Addition addition = new Addition(number);
        await().until(() -> logs.get(through).propose(addition));
        assertTrue(addition.done.await(120, TimeUnit.SECONDS), "through member " + through);
    }

    private int awaitLeader() {
        await("a leader").until(() -> leader() != 0);
        return leader();
    }

    private int leader() {
        return logs.keySet().stream()
                .filter(id -> logs.get(id).status().role() == LogRole.LEADING)
                .findFirst()
                .orElse(0);
    }

    @Test
    void threeMembersInMemoryElectAndForward() throws Exception {
        startAll(false);
        add(1, 1);
        add(2, 20);
        add(3, 300);
        await().until(() -> machines.values().stream().allMatch(machine -> machine.sum == 321));
    }

    @Test
    void whenTheLeaderClosesItsLeadershipIsTransferredAndItComesBack() throws Exception {
        startAll(true);
        for (int number = 0; number < 100; number++) {
            add(number % 3 + 1, number);
        }
        int leader = awaitLeader();
        logs.remove(leader).close();
        machines.remove(leader);
        int other = leader % 3 + 1;
        add(other, 1_000_000);
        start(leader, true);
        awaitAllVote();
        add(leader, 1);
        await().until(() -> machines.values().stream().allMatch(machine -> machine.sum == 4950 + 1_000_000 + 1));
    }

    /** Its log, snapshot included, has no address of it: nobody could reach it when it began. */
    @Test
    void serverByItselfGrowsBehindItsSnapshotOnceItHasAnAddress() throws Exception {
        start(1, true, Map.of());
        for (int number = 0; number < 2 * SNAPSHOT_EVERY; number++) {
            add(1, number);
        }
        Path alone = directory.resolve("member-1");
        await("a snapshot").until(() -> hasSnapshot(alone));
        logs.remove(1).close();
        startAll(true);
        await("all know the address").until(() -> logs.values().stream()
                .allMatch(log -> members.get(1).host().equals(host(log))
                        && members.get(1).peerPort() == port(log)));
        add(3, 1_000);
        await().until(() -> machines.values().stream().allMatch(machine -> machine.sum == 780 + 1_000));
    }

    private static boolean hasSnapshot(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.anyMatch(file -> file.toString().endsWith(".snap"));
        }
    }

    private static String host(EnsembleLog log) {
        return log.status().configuration().members().get(1).host();
    }

    private static int port(EnsembleLog log) {
        return log.status().configuration().members().get(1).peerPort();
    }

    /** A member that gets no processor for an election timeout lets a transfer fail; it is asked again then. */
    private boolean hasLedAfterTransfer(int to) throws Exception {
        int from = leader();
        if (from != 0 && from != to) {
            logs.get(from)
                    .transferLeadership(to)
                    .handle((done, failure) -> to)
                    .toCompletableFuture()
                    .get(120, TimeUnit.SECONDS);
        }
        return leader() == to;
    }

    @Test
    void leadershipGoesWhereItIsSent() throws Exception {
        startAll(true);
        int from = awaitLeader();
        int to = from % 3 + 1;
        await().until(() -> hasLedAfterTransfer(to));
        add(from, 7);
        CountDownLatch answered = new CountDownLatch(1);
        assertTrue(logs.get(from).readIndex(new byte[] {1}, answered::countDown));
        assertTrue(answered.await(120, TimeUnit.SECONDS));
    }
}
