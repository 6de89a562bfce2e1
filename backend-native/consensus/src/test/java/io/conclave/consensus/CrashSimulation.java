package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.RecordingMachine.Seen;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.EntryKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Several lives of one log on one simulated disk, all from one seed: random proposals, snapshots, purges, full disks,
 * kills and power failures at random places, recovery included. After each recovery everything that was acknowledged
 * must be there, in order, with the same bytes, terms and times, and nothing that was rejected.
 */
final class CrashSimulation {
    private static final UUID CLUSTER = new UUID(7, 7);
    private static final int SEGMENT_BYTES = 64 * 1024;

    private static final byte[] ZEROS = new byte[SEGMENT_BYTES];

    private final Random random;
    private final SimulatedDisk disk;
    private final Disk seenByLog;
    private final Deque<Runnable> background = new ArrayDeque<>();
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private boolean inline;
    private long clockMs = 1_000_000;

    /** What must be there after the next recovery. */
    private List<Seen> promised = new ArrayList<>();

    private final List<RecordingProposal> proposed = new ArrayList<>();
    private final Set<Integer> rejectedHashes = new HashSet<>();
    private long highestTerm;
    private int payloads;

    int recoveries;
    int fullDisks;

    CrashSimulation(long seed, UnaryOperator<Disk> mistake) {
        random = new Random(seed);
        disk = new SimulatedDisk(random.nextLong());
        seenByLog = mistake.apply(disk);
    }

    void run() throws IOException {
        int lives = 3 + random.nextInt(6);
        for (int life = 0; life < lives; life++) {
            live();
        }
        disk.capacity(Long.MAX_VALUE);
        recoverAndCheck(newLoop(), new RecordingMachine());
    }

    private LogLoop newLoop() {
        LogOptions options = LogOptions.builder(
                        () -> clockMs,
                        () -> clockMs,
                        task -> {
                            if (inline) {
                                task.run();
                            } else {
                                background.add(task);
                            }
                        },
                        (delayMs, action) -> delayed.add(action),
                        cause -> {
                            throw new AssertionError("the log failed", cause);
                        })
                .clusterIds(() -> CLUSTER)
                .segmentBytes(SEGMENT_BYTES)
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(10 + random.nextInt(60))
                .snapshotsKept(1 + random.nextInt(3))
                .build();
        return new LogLoop(options, queue -> new TermWatch(new FileStore(seenByLog, options, queue::control)));
    }

    private void live() throws IOException {
        background.clear();
        delayed.clear();
        clockMs += random.nextInt(5_000) - 1_000;
        LogLoop loop = newLoop();
        RecordingMachine machine = new RecordingMachine();
        if (random.nextInt(4) != 0) {
            disk.failAfter(1 + random.nextInt(random.nextBoolean() ? 15 : 200));
        }
        try {
            recoverAndCheck(loop, machine);
            work(loop, machine);
        } catch (PowerFailure e) {
            // the process ends here
        } catch (LogException e) {
            if (!disk.hasFailed()) {
                throw e;
            }
        }
        promise(loop, machine);
        if (random.nextInt(3) == 0) {
            disk.kill();
        } else {
            disk.losePower();
        }
    }

    private void recoverAndCheck(LogLoop loop, RecordingMachine machine) throws IOException {
        recoveries++;
        inline = true;
        loop.lead(machine);
        inline = false;
        check(machine.seen());
        checkNothingBehindTheEnd();
        promised = new ArrayList<>(machine.seen());
    }

    private void check(List<Seen> found) {
        assertTrue(found.size() >= promised.size(), "lost: of " + promised.size() + " only " + found.size());
        assertEquals(promised, found.subList(0, promised.size()));
        Seen before = new Seen(0, 0, 0, EntryKind.TERM, 0);
        for (Seen entry : found) {
            assertTrue(entry.timestampMs() >= before.timestampMs(), "time went back at " + entry);
            boolean newTerm = entry.kind() == EntryKind.TERM;
            assertTrue(newTerm ? entry.term() > before.term() : entry.term() == before.term(), "term of " + entry);
            before = entry;
        }
        for (Seen entry : found.subList(promised.size(), found.size())) {
            assertTrue(
                    entry.kind() == EntryKind.TERM || !rejectedHashes.contains(entry.payloadHash()),
                    "was rejected and is there: " + entry);
        }
    }

    /** Bytes of a torn write that stay behind the end could be taken for a batch one day. */
    private void checkNothingBehindTheEnd() {
        for (String name : disk.list()) {
            if (Segment.idOf(name) < 0) {
                continue;
            }
            ByteBuffer bytes = ByteBuffer.wrap(disk.durableBytes(name));
            int end = LogFormat.SEGMENT_HEADER_BYTES;
            assertTrue(bytes.limit() > end, name + " is in use but not durable");
            Optional<BatchHeader> header =
                    BatchHeader.read(bytes.slice(end, bytes.limit() - end), CLUSTER, Segment.idOf(name));
            while (header.isPresent() && end + header.get().stride() < bytes.limit()) {
                end += header.get().stride();
                header = BatchHeader.read(bytes.slice(end, bytes.limit() - end), CLUSTER, Segment.idOf(name));
            }
            ByteBuffer rest = bytes.slice(end, bytes.limit() - end);
            int used = rest.mismatch(ByteBuffer.wrap(ZEROS, 0, rest.limit()));
            assertTrue(used < 0, "left behind the end " + end + " of " + name + " at " + (end + used));
        }
    }

    /** What was applied was acknowledged; a recovery that was cut short promises nothing new, nobody has seen it. */
    private void promise(LogLoop loop, RecordingMachine machine) {
        if (loop.status().role() != LogRole.RECOVERING) {
            promised = new ArrayList<>(machine.seen());
        }
        for (RecordingProposal proposal : proposed) {
            if (proposal.rejection != null) {
                rejectedHashes.add(Arrays.hashCode(proposal.payload));
            }
        }
        proposed.clear();
    }

    private void work(LogLoop loop, RecordingMachine machine) throws IOException {
        int steps = random.nextInt(80);
        for (int i = 0; i < steps; i++) {
            switch (random.nextInt(12)) {
                case 0 -> limitDisk();
                case 1 -> runOne(delayed);
                case 2, 3 -> runOne(background);
                case 4 -> clockMs += random.nextInt(100) - 30;
                default -> propose(loop);
            }
            loop.step();
        }
        if (random.nextInt(3) == 0) {
            close(loop);
        }
    }

    private void limitDisk() {
        boolean free = random.nextBoolean();
        disk.capacity(free ? Long.MAX_VALUE : disk.used() + random.nextInt(2 * SEGMENT_BYTES));
    }

    private static void runOne(Deque<Runnable> tasks) {
        if (!tasks.isEmpty()) {
            tasks.poll().run();
        }
    }

    private void propose(LogLoop loop) {
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(10) == 0 ? 4 + random.nextInt(8_000) : 4 + random.nextInt(600)];
            random.nextBytes(payload);
            payload[0] = (byte) payloads;
            payload[1] = (byte) (payloads >> 8);
            payloads++;
            RecordingProposal proposal = new RecordingProposal(payload);
            assertTrue(loop.propose(proposal), "the queue is full");
            proposed.add(proposal);
        }
    }

    private void close(LogLoop loop) throws IOException {
        loop.beginClosing();
        while (loop.status().role() != LogRole.CLOSED) {
            if (!loop.step()) {
                assertTrue(!background.isEmpty(), "closing waits for nothing");
                runOne(background);
            }
        }
        for (RecordingProposal proposal : proposed) {
            assertTrue(proposal.acknowledged || proposal.rejection != null, "closed without an outcome");
            fullDisks += proposal.rejection == Rejection.DISK_FULL ? 1 : 0;
        }
    }

    /** Sees each term that was entered, also when the life ends before its first entry is written. */
    private final class TermWatch implements LogStore {
        private final LogStore store;

        TermWatch(LogStore store) {
            this.store = store;
        }

        @Override
        public LogTail recover(StateMachine machine) throws IOException {
            return store.recover(machine);
        }

        @Override
        public UUID clusterId() {
            return store.clusterId();
        }

        @Override
        public long enterNextTerm() throws IOException {
            long term = store.enterNextTerm();
            assertTrue(term > highestTerm, "term " + term + " was entered before");
            highestTerm = term;
            return term;
        }

        @Override
        public Appended append(CommittedBatch batch) throws IOException {
            return store.append(batch);
        }

        @Override
        public void applied(CommittedBatch batch, StateMachine machine) {
            store.applied(batch, machine);
        }

        @Override
        public DiskState diskState() {
            return store.diskState();
        }

        @Override
        public boolean stopped() {
            return store.stopped();
        }

        @Override
        public void close(boolean clean) throws IOException {
            store.close(clean);
        }
    }
}
