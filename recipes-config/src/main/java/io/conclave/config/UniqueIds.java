package io.conclave.config;

import io.conclave.cache.Mirror;
import io.conclave.cache.MirrorScope;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Registration;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.GetData;
import io.conclave.spi.SessionState;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Whole numbers that nobody else gets, taken in blocks: one request to the store for a whole block, the others from memory. They grow, but not in the order of time among processes; those of a block that a process does not use up are never given.
 *
 * <p>The znode holds the next free id; a block is had by a conditional write. If its reply is lost, the block counts as lost too: an id may be skipped, never given twice.
 *
 * <p>{@link #at} trusts the store: if all of its data were lost, ids would begin at 0 again. {@link #persisted} does not: it gives ids only below a limit that a {@link SequencePersister} has stored elsewhere before, and waits where there is none; an empty znode then
 * shows that there is a sequence to look after. After the
 * loss of a whole ensemble the persister lets the sequence go on from what it has stored.
 *
 * <p>While the connection is away, or the session is lost, whoever asks waits. Thread-safe; {@code lock} guards the state, and nothing blocks while it is held.
 */
public final class UniqueIds {
    private static final int DEFAULT_BLOCK = 100;

    private final Coordinator coordinator;
    private final NodePath path;
    private final boolean persisted;
    private final int blockSize;
    private final Requests requests;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final Queue<CompletableFuture<Long>> waiting = new ArrayDeque<>();
    private long next;
    private long end;
    private boolean reserving;

    /** Ids from one to before another. */
    private record Block(long from, long end) {}

    private UniqueIds(Coordinator coordinator, NodePath path, boolean persisted, int blockSize) {
        this.coordinator = coordinator;
        this.path = path;
        this.persisted = persisted;
        this.blockSize = blockSize;
        this.requests = new Requests(coordinator);
    }

    /**
     * The sequence at a path, made if it is not there.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static UniqueIds at(Coordinator coordinator, String path) {
        return of(coordinator, path, false);
    }

    /** The sequence at a path, as {@link #at}, but with a {@link SequencePersister}, which makes it: ids are given only as far as it has stored them elsewhere. */
    public static UniqueIds persisted(Coordinator coordinator, String path) {
        return of(coordinator, path, true);
    }

    private static UniqueIds of(Coordinator coordinator, String path, boolean persisted) {
        Objects.requireNonNull(coordinator, "coordinator");
        return new UniqueIds(coordinator, pathOf(path), persisted, DEFAULT_BLOCK);
    }

    static NodePath pathOf(String path) {
        NodePath node = NodePath.of(path);
        if (node.isRoot()) {
            throw new IllegalArgumentException("Invalid path of a sequence \"/\": it needs a znode of its own");
        }
        return node;
    }

    /** The same sequence, taken in blocks of this size; 100 if not set. To be called before ids are asked for. */
    public UniqueIds withBlockSize(int size) {
        if (size < 1) {
            throw new IllegalArgumentException("Invalid block size " + size + ": it must be positive");
        }
        return new UniqueIds(coordinator, path, persisted, size);
    }

    /**
     * The next id. Blocks if a new block is needed, until the store answers, and with a persister until there is room below the limit.
     *
     * @throws InterruptedException if the thread is interrupted
     * @throws io.conclave.error.ConclaveException if the store refuses
     */
    public long next() throws InterruptedException {
        CompletableFuture<Long> id = nextAsync();
        try {
            return requests.await(id);
        } catch (InterruptedException e) {
            id.cancel(true);
            throw e;
        }
    }

    /**
     * As {@link #next()}, with a limit of time.
     *
     * @throws AcquireTimeoutException if the time is over
     */
    public long next(Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "timeout");
        CompletableFuture<Long> id = nextAsync();
        TimeSource.Timer timer = coordinator
                .recipeSession()
                .time()
                .schedule(
                        timeout,
                        () -> id.completeExceptionally(
                                new AcquireTimeoutException("No id within " + timeout + ": " + this)));
        try {
            return requests.await(id);
        } catch (InterruptedException e) {
            id.cancel(true);
            throw e;
        } finally {
            timer.cancel();
        }
    }

    /** As {@link #next()}, without blocking. Completes on a listener thread, or at once. */
    public CompletableFuture<Long> nextAsync() {
        CompletableFuture<Long> id = new CompletableFuture<>();
        synchronized (lock) {
            if (waiting.isEmpty() && next < end) {
                return CompletableFuture.completedFuture(next++);
            }
            forgetWhoGaveUp();
            waiting.add(id);
            if (reserving) {
                return id;
            }
            reserving = true;
        }
        reserveFor();
        return id;
    }

    /** Those at the front, so that nobody who asks again and again piles up while there are no ids. */
    private void forgetWhoGaveUp() { // under the lock
        while (!waiting.isEmpty() && waiting.element().isDone()) {
            waiting.remove();
        }
    }

    private void reserveFor() {
        long startNanos = coordinator.recipeSession().time().monotonicNanos();
        reserve(1).whenComplete((block, failure) -> {
            if (failure == null) {
                RecipeSession session = coordinator.recipeSession();
                long tookNanos = session.time().monotonicNanos() - startNanos;
                session.metrics().duration("ids.reserve", path.toString(), Duration.ofNanos(tookNanos));
                give(block);
            } else {
                fail(Waiting.cause(failure));
            }
        });
    }

    /** Each on a listener thread of its own turn: what one does with his id, such as asking for the next, must not keep the others from theirs. */
    private void tell(Runnable completion) {
        requests.listenerThreads("id of " + path).execute(completion);
    }

    private void give(Block block) {
        synchronized (lock) {
            next = block.from;
            end = block.end;
        }
        while (true) {
            CompletableFuture<Long> first;
            long id;
            synchronized (lock) {
                forgetWhoGaveUp();
                if (waiting.isEmpty()) {
                    reserving = false;
                    return;
                }
                if (next == end) {
                    break;
                }
                first = waiting.remove();
                id = next++;
            }
            tell(() -> first.complete(id)); // should he give up meanwhile, the id is lost
        }
        reserveFor();
    }

    private void fail(Throwable cause) {
        Queue<CompletableFuture<Long>> failed;
        synchronized (lock) {
            failed = new ArrayDeque<>(waiting);
            waiting.clear();
            reserving = false;
        }
        failed.forEach(id -> tell(() -> id.completeExceptionally(cause)));
    }

    /** Read and write go to one session: were the ensemble lost and another one there in between, the write would not reach it. */
    private CompletionStage<Block> reserve(int attempt) {
        Requests pinned = requests.onPresentSession();
        CompletionStage<Optional<Block>> taken =
                (attempt == 1 ? pinned.read(path) : pinned.readLatest(path)).thenCompose(found -> take(pinned, found));
        return taken.handle((block, failure) -> {
                    if (failure == null) {
                        return block.<CompletionStage<Block>>map(CompletableFuture::completedFuture)
                                .orElseGet(() -> pinned.later(Backoff.after(attempt), () -> reserve(attempt + 1)));
                    }
                    return again(Waiting.cause(failure), attempt);
                })
                .thenCompose(stage -> stage);
    }

    private CompletionStage<Block> again(Throwable cause, int attempt) {
        if (cause instanceof NoRoomException) {
            return untilChanged().thenCompose(changed -> reserve(attempt + 1));
        }
        if (cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException) {
            coordinator.recipeSession().metrics().count("ids.skip", path.toString());
            return reserve(attempt + 1);
        }
        return CompletableFuture.failedFuture(cause);
    }

    /** There is no id below the limit. */
    private static final class NoRoomException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private CompletionStage<Optional<Block>> take(Requests pinned, Optional<GetData.NodeData> found) {
        if (found.isEmpty() || found.get().bytes().isEmpty()) {
            if (persisted) { // an empty znode tells persisters that there is a sequence
                return ParentMaker.makePersistent(pinned.session(), path)
                        .thenCompose(made -> CompletableFuture.failedFuture(new NoRoomException()));
            }
            SequenceRecord first = new SequenceRecord(blockSize, SequenceRecord.NO_LIMIT, 0);
            int version = found.map(node -> node.stat().version()).orElse(ConditionalWrite.ABSENT);
            return write(pinned, first, version).thenApply(stat -> stat.map(written -> new Block(0, blockSize)));
        }
        SequenceRecord record = SequenceRecord.parse(path, found.get().data());
        if (!hasRoom(record)) {
            return CompletableFuture.failedFuture(new NoRoomException());
        }
        Block block = new Block(record.next(), Math.min(record.limit(), record.next() + blockSize));
        SequenceRecord rest = new SequenceRecord(block.end, record.limit(), record.generation());
        return write(pinned, rest, found.get().stat().version()).thenApply(stat -> stat.map(written -> block));
    }

    /** A limit of another generation says nothing: the store may have been set back to a state from before ids were given. */
    private boolean hasRoom(SequenceRecord record) {
        boolean isTrusted = !persisted
                || (record.hasLimit()
                        && record.generation() == requests.session().generation());
        return isTrusted && record.next() < record.limit();
    }

    private CompletionStage<Optional<NodeStat>> write(Requests pinned, SequenceRecord record, int version) {
        // A block of which we do not know whether it is ours is nobody's.
        ConditionalWrite.Proof proof = (node, writes) -> ConditionalWrite.Proof.Verdict.UNKNOWN;
        return new ConditionalWrite(pinned, path, record.data(), version, proof).send();
    }

    /** Completes when the limit may have been raised: at the next change. */
    private CompletionStage<Void> untilChanged() {
        CompletableFuture<Void> changed = new CompletableFuture<>();
        Mirror mirror = Mirror.of(coordinator, path, MirrorScope.NODE);
        mirror.listen(changes -> {
            boolean hasRoom = mirror.get(path)
                    .filter(node -> !node.bytes().isEmpty())
                    .map(node -> SequenceRecord.parse(path, node.data()))
                    .filter(this::hasRoom)
                    .isPresent();
            if (hasRoom) {
                changed.complete(null);
            }
        });
        Registration registration = coordinator.onStateChange(state -> failIfClosed(state, changed));
        failIfClosed(coordinator.state(), changed);
        changed.whenComplete((done, failure) -> {
            mirror.close();
            registration.close();
        });
        return changed;
    }

    private void failIfClosed(SessionState state, CompletableFuture<Void> changed) {
        if (state == SessionState.CLOSED) {
            changed.completeExceptionally(new ClosedException(this + ": the coordinator was closed"));
        }
    }

    /** The sequence's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "UniqueIds[" + path + (persisted ? ", persisted" : "") + "]";
    }
}
