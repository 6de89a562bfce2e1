package io.conclave.consensus;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EntryCodec;
import io.conclave.consensus.entry.EntryKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of a one-member cluster: what gathered in the queue becomes one batch, the batch one synced write, then it is
 * applied, and so on. While a batch is being synced the next one gathers by itself; there is no other waiting and no
 * hand-off between the queue and the state machine.
 *
 * <p>{@link #lead} and {@link #step} are the whole of it; the thread only calls them. A simulator calls them itself.
 */
final class LogLoop implements ReplicatedLog {
    private static final Logger log = LoggerFactory.getLogger(LogLoop.class);
    private static final UUID NO_CLUSTER = new UUID(0, 0);

    private final LogOptions options;
    private final ProposalQueue queue;
    private final LogStore store;
    private final AtomicBoolean started = new AtomicBoolean();
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    /** Written by the log's thread (before it starts: by the starter). */
    private volatile LogStatus status;

    private volatile boolean closing;
    private @Nullable Thread thread;

    // below: owned by the log's thread

    private @Nullable StateMachine machine;
    private LogRole role = LogRole.NEW;
    private long term;
    private long lastIndex;
    private long timestampMs;

    /** Gathered and not yet written, because the store waits for its next segment. */
    private @Nullable CommittedBatch held;

    /** Read barriers met while the held batch was gathered; they run after it. */
    private final List<Runnable> barriers = new ArrayList<>();

    LogLoop(LogOptions options, Function<ProposalQueue, LogStore> stores) {
        this.options = options;
        this.status = LogStatus.idle(options.memberId(), LogRole.NEW);
        this.queue = new ProposalQueue(options.maxQueuedEntries(), options.maxQueuedBytes());
        this.store = stores.apply(queue);
    }

    // ---- any thread

    @Override
    public void start(StateMachine stateMachine, LogListener listener) {
        if (!started.compareAndSet(false, true)) {
            throw new IllegalStateException("the log was started or closed before");
        }
        CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
        Thread made = options.threadFactory().newThread(() -> run(stateMachine, listener, ready));
        thread = made;
        made.start();
        try {
            ready.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof LogException cause ? cause : new LogException(e.toString(), e);
        }
    }

    @Override
    public boolean propose(Proposal proposal) {
        EntryKind kind = proposal.kind();
        if (kind != EntryKind.APPLICATION && kind != EntryKind.FEATURE_LEVEL) {
            throw new IllegalArgumentException("a proposal cannot be of kind " + kind);
        }
        byte[] payload = proposal.payload();
        if (payload.length > options.maxEntryBytes()) {
            throw new IllegalArgumentException("the payload has " + payload.length + " bytes; at most "
                    + options.maxEntryBytes() + " are allowed (maxEntryBytes)");
        }
        if (kind == EntryKind.FEATURE_LEVEL && payload.length != Integer.BYTES) {
            throw new IllegalArgumentException("a feature level has four bytes, not " + payload.length);
        }
        return queue.offer(new CommittedEntry(kind, payload, proposal));
    }

    @Override
    public boolean readBarrier(Runnable action) {
        return queue.offer(action);
    }

    @Override
    public boolean confirm(byte[] note, Runnable action) {
        return queue.offer(action);
    }

    @Override
    public CompletionStage<@Nullable Void> change(MembershipChange change) {
        return CompletableFuture.failedStage(new LogException("this log has one member only"));
    }

    @Override
    public CompletionStage<@Nullable Void> transferLeadership(int member) {
        return CompletableFuture.failedStage(new LogException("this log has one member only"));
    }

    @Override
    public LogStatus status() {
        return status;
    }

    @Override
    public void close() {
        if (started.compareAndSet(false, true)) {
            status = LogStatus.idle(options.memberId(), LogRole.CLOSED);
            ended.complete(null);
            return;
        }
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException("close() must not be called on the log's own thread");
        }
        beginClosing();
        ended.join();
    }

    void beginClosing() {
        closing = true;
        queue.control(() -> {});
    }

    // ---- the log's thread

    private void run(StateMachine stateMachine, LogListener listener, CompletableFuture<@Nullable Void> ready) {
        try {
            if (!tryLead(stateMachine, ready)) {
                return;
            }
            listener.leading(term);
            listener.serving(true);
            while (role == LogRole.LEADING) {
                if (!tryStep()) {
                    queue.await(held != null);
                }
            }
        } finally {
            ended.complete(null);
        }
    }

    private boolean tryLead(StateMachine stateMachine, CompletableFuture<@Nullable Void> ready) {
        try {
            lead(stateMachine);
            ready.complete(null);
            return true;
        } catch (IOException | RuntimeException | Error e) {
            enter(LogRole.FAILED);
            store.stopped();
            closeStore(false);
            ready.completeExceptionally(
                    e instanceof LogException ? e : new LogException("the log could not be recovered: " + e, e));
            return false;
        }
    }

    private boolean tryStep() {
        try {
            return step();
        } catch (IOException | RuntimeException | Error e) {
            fail(e instanceof LogException known ? known : new LogException("the log cannot go on: " + e, e));
            return false;
        }
    }

    /** Recovers, enters a new term and applies its first entry. */
    void lead(StateMachine stateMachine) throws IOException {
        machine = stateMachine;
        enter(LogRole.RECOVERING);
        LogStore.Tail tail = store.recover(stateMachine);
        lastIndex = tail.lastIndex();
        timestampMs = tail.timestampMs();
        term = store.enterNextTerm();
        CommittedBatch first = batchOf(List.of(new CommittedEntry(EntryKind.TERM, new byte[0], null)));
        appendWaiting(first);
        apply(first);
        enter(LogRole.FOLLOWING);
        enter(LogRole.LEADING);
        queue.begin();
    }

    /** Only here it is worth waiting for a segment, for nothing can go on without this batch. */
    private void appendWaiting(CommittedBatch batch) throws IOException {
        while (true) {
            switch (store.append(batch)) {
                case DONE -> {
                    return;
                }
                case FULL -> throw new LogException("the disk is full, not even the first entry of a term has room");
                default -> {
                    if (!runControls()) {
                        queue.await(true);
                    }
                }
            }
        }
    }

    /** Does what there is to do now; returns whether there was anything. */
    boolean step() throws IOException {
        boolean worked = runControls();
        if (held == null) {
            held = gather();
        }
        CommittedBatch batch = held;
        if (batch != null) {
            if (!write(batch)) {
                return worked;
            }
            held = null;
            worked = true;
        }
        worked |= runBarriers();
        return worked || endIfClosing();
    }

    private boolean runControls() {
        boolean worked = false;
        for (Runnable work = queue.pollControl(); work != null; work = queue.pollControl()) {
            work.run();
            worked = true;
        }
        if (worked) {
            publish();
        }
        return worked;
    }

    private @Nullable CommittedBatch gather() {
        List<CommittedEntry> entries = new ArrayList<>();
        int bytes = 0;
        for (ProposalQueue.Item item = queue.peek(); item != null; item = queue.peek()) {
            bytes += EntryCodec.HEADER_BYTES + item.bytes();
            if (bytes > options.maxBatchBytes()) {
                break;
            }
            ProposalQueue.Item taken = queue.poll();
            if (taken == null) {
                break;
            }
            if (taken.entry != null) {
                entries.add(taken.entry);
            } else if (taken.action != null) {
                barriers.add(taken.action);
            }
        }
        return entries.isEmpty() ? null : batchOf(entries);
    }

    private CommittedBatch batchOf(List<CommittedEntry> entries) {
        timestampMs = Math.max(timestampMs, options.wallClockMs().getAsLong());
        return new CommittedBatch(term, lastIndex + 1, timestampMs, entries);
    }

    /** Writes and applies the batch, or rejects it; false if the store has to wait. */
    private boolean write(CommittedBatch batch) throws IOException {
        switch (store.append(batch)) {
            case DONE -> apply(batch);
            case FULL -> batch.entries().forEach(entry -> reject(entry, Rejection.DISK_FULL));
            default -> {
                return false;
            }
        }
        publish();
        return true;
    }

    private void apply(CommittedBatch batch) {
        StateMachine to = Objects.requireNonNull(machine);
        lastIndex = batch.lastIndex();
        to.apply(batch);
        store.applied(batch, to);
    }

    private boolean runBarriers() {
        if (barriers.isEmpty()) {
            return false;
        }
        for (Runnable barrier : barriers) {
            try {
                barrier.run();
            } catch (RuntimeException e) {
                log.error("a read barrier's action threw", e);
            }
        }
        barriers.clear();
        return true;
    }

    private static void reject(CommittedEntry entry, Rejection reason) {
        if (entry.origin() == null) {
            return;
        }
        try {
            entry.origin().rejected(reason);
        } catch (RuntimeException e) {
            log.error("the handler of a rejected proposal threw", e);
        }
    }

    /** There was nothing to do: the moment to end, if that is asked for and nothing can come any more. */
    private boolean endIfClosing() throws IOException {
        if (!closing || role != LogRole.LEADING) {
            return false;
        }
        queue.end();
        if (queue.peek() != null) {
            return true;
        }
        if (!store.stopped()) {
            return false;
        }
        store.close(true);
        enter(LogRole.CLOSED);
        sweep(Rejection.CLOSED);
        return true;
    }

    private void fail(LogException cause) {
        log.error("the log ends", cause);
        barriers.clear();
        queue.end();
        enter(LogRole.FAILED);
        sweep(Rejection.FAILED);
        store.stopped();
        closeStore(false);
        options.fatal().fatal(cause);
    }

    private void sweep(Rejection reason) {
        for (ProposalQueue.Item item = queue.poll(); item != null; item = queue.poll()) {
            if (item.entry != null) {
                reject(item.entry, reason);
            } else if (item.action != null && reason == Rejection.CLOSED) {
                barriers.add(item.action);
            }
        }
        runBarriers();
    }

    private void closeStore(boolean clean) {
        try {
            store.close(clean);
        } catch (IOException | RuntimeException e) {
            log.warn("closing the log's files failed", e);
        }
    }

    private void enter(LogRole next) {
        if (!next.mayFollow(role)) {
            throw new IllegalStateException("from " + role + " to " + next);
        }
        role = next;
        publish();
    }

    private void publish() {
        UUID cluster = status.clusterId();
        if (role == LogRole.LEADING && cluster.equals(NO_CLUSTER)) {
            cluster = store.clusterId();
        }
        status = new LogStatus(
                options.memberId(),
                role,
                role == LogRole.LEADING ? options.memberId() : 0,
                term,
                lastIndex,
                lastIndex,
                lastIndex,
                ClusterConfiguration.NONE,
                cluster,
                store.diskState());
    }
}
