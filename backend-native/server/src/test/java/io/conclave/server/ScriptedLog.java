package io.conclave.server;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LeaderStatus;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.entry.ClusterConfiguration;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A log that commits at once whatever it takes, and for the rest does what the test says. */
final class ScriptedLog implements ReplicatedLog {
    private static final long TERM = 1;

    private final ExecutorService thread = Executors.newSingleThreadExecutor(run -> new Thread(run, "scripted-log"));
    private final ByteArrayOutputStream snapshot = new ByteArrayOutputStream();
    private volatile boolean reading;
    private @Nullable StateMachine machine;
    private @Nullable LogListener listener;
    private long index;

    /** Which proposals find room. */
    volatile Predicate<Proposal> takes = proposal -> true;

    /** Whether barriers find room. */
    volatile boolean takesBarriers = true;

    /** Whether requests for a read index are answered; else they wait for {@link #answerReadIndexes}. */
    volatile boolean answersReadIndexes = true;

    private final Queue<Runnable> unansweredReadIndexes = new ConcurrentLinkedQueue<>();

    final CompletableFuture<Long> membershipChange = new CompletableFuture<>();

    @Override
    public void start(StateMachine newMachine, LogListener newListener) {
        machine = newMachine;
        listener = newListener;
        newMachine.begin(new UUID(1, 2));
        serve(true);
    }

    /** Has clients served everything, or not; on the log's thread, soon. */
    void serve(boolean serving) {
        LogListener told = listener;
        if (told != null) {
            thread.execute(() -> told.serving(serving));
        }
    }

    /** Another member claims that this one's disk was set back; to be called on the log's thread. */
    void suspend() {
        LogListener told = listener;
        if (told != null) {
            told.suspended();
        }
    }

    /** A configuration is applied; on the log's thread, soon. */
    void configure(ClusterConfiguration present) {
        LogListener told = listener;
        if (told != null) {
            thread.execute(() -> told.configured(present));
        }
    }

    /** Whether the server understands a note of another member. */
    boolean noted(int member, byte[] note) {
        LogListener told = listener;
        return told != null && told.noted(member, note);
    }

    /** Replaces the state by itself, as if a snapshot had come. */
    void installSnapshot() {
        beginSnapshot();
        endSnapshot();
    }

    /** The state is dropped, and the same is about to be read in its place. */
    void beginSnapshot() {
        StateMachine replaced = started();
        thread.execute(() -> {
            try {
                replaced.snapshot().writeTo(snapshot);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            reading = true;
            replaced.drop();
        });
    }

    /** It is read. */
    void endSnapshot() {
        StateMachine replaced = started();
        thread.execute(() -> {
            try {
                replaced.read(new ByteArrayInputStream(snapshot.toByteArray())).run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            snapshot.reset();
            reading = false;
        });
    }

    private StateMachine started() {
        StateMachine present = machine;
        if (present == null) {
            throw new IllegalStateException("not started");
        }
        return present;
    }

    @Override
    public synchronized boolean propose(Proposal proposal) {
        StateMachine appliedTo = machine;
        if (appliedTo == null || !takes.test(proposal)) {
            return false;
        }
        index++;
        CommittedEntry entry = new CommittedEntry(proposal.kind(), proposal.payload(), proposal);
        CommittedBatch batch = new CommittedBatch(TERM, index, index, index, List.of(entry));
        thread.execute(() -> appliedTo.apply(batch));
        return true;
    }

    @Override
    public boolean readBarrier(Runnable action) {
        if (takesBarriers) {
            thread.execute(action);
        }
        return takesBarriers;
    }

    @Override
    public boolean readIndex(byte[] note, Runnable action) {
        if (answersReadIndexes) {
            thread.execute(action);
        } else {
            unansweredReadIndexes.add(action);
        }
        return true;
    }

    /** Answers the requests for a read index that wait, and those to come at once. */
    void answerReadIndexes() {
        answersReadIndexes = true;
        unansweredReadIndexes.forEach(thread::execute);
    }

    @Override
    public void tell(int member, byte[] note) {}

    @Override
    public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
        return membershipChange;
    }

    @Override
    public CompletionStage<@Nullable Void> transferLeadership(int member) {
        return CompletableFuture.completedStage(null);
    }

    @Override
    public LogStatus status() {
        LogStatus idle = LogStatus.idle(1, LogRole.LEADING);
        return new LogStatus(
                1,
                idle.role(),
                0,
                0,
                0,
                0,
                0,
                idle.configuration(),
                0,
                idle.clusterId(),
                idle.disk(),
                reading,
                0,
                "",
                LeaderStatus.NONE);
    }

    @Override
    public void execute(Runnable action) {
        thread.execute(action);
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
