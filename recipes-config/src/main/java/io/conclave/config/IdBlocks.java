package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetData;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The block of ids that a coordinator takes from, of one sequence and block size, and the callers that wait for the
 * next block. {@code lock} guards the state, and nothing blocks while it is held.
 */
final class IdBlocks {
    private static final int MAX_SEQUENCES = 1_000;

    private final Coordinator coordinator;
    private final NodePath path;
    private final boolean persisted;
    private final int blockSize;
    private final Requests requests;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final NavigableMap<Long, CompletableFuture<Long>> waiting = new TreeMap<>(); // by number of the call
    private long lastCall;
    private long next;
    private long end;
    private boolean reserving;
    private Optional<CompletableFuture<Void>> room = Optional.empty(); // what the reservation waits for

    /** Ids from one to before another. */
    private record Block(long from, long end) {}

    /** What tells the blocks of one coordinator from each other. */
    private record Key(NodePath path, boolean persisted, int blockSize) {}

    /** The blocks of one coordinator: of the sequences that it used last, so that their number has a bound. */
    private static final class Kept {
        // @GuardedBy("this")
        private final Map<Key, IdBlocks> lastUsed = new LinkedHashMap<>(16, 0.75F, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Key, IdBlocks> eldest) {
                return size() > MAX_SEQUENCES;
            }
        };

        synchronized IdBlocks of(Coordinator coordinator, Key key) {
            return lastUsed.computeIfAbsent(key, first -> new IdBlocks(coordinator, key));
        }
    }

    private IdBlocks(Coordinator coordinator, Key key) {
        this.coordinator = coordinator;
        this.path = key.path;
        this.persisted = key.persisted;
        this.blockSize = key.blockSize;
        this.requests = new Requests(coordinator);
    }

    /**
     * Those of a coordinator. They outlive its sessions: no other coordinator gets these ids, even if the session ends.
     */
    static IdBlocks of(Coordinator coordinator, NodePath path, boolean persisted, int blockSize) {
        Kept kept = RecipeAccess.session(coordinator).keepWithCoordinator(Kept.class, Kept::new);
        return kept.of(coordinator, new Key(path, persisted, blockSize));
    }

    /** The next id. Never blocks. Completes on a listener thread, or at once. */
    CompletableFuture<Long> next() {
        CompletableFuture<Long> id = new CompletableFuture<>();
        long call;
        synchronized (lock) {
            if (waiting.isEmpty() && next < end) {
                return CompletableFuture.completedFuture(next++);
            }
            forgetWhoGaveUp();
            call = ++lastCall;
            waiting.put(call, id);
            if (reserving) {
                return endingWaitInVain(call, id);
            }
            reserving = true;
        }
        reserve();
        return endingWaitInVain(call, id);
    }

    /** Those at the front; each goes by itself as well, but perhaps not at once. */
    private void forgetWhoGaveUp() { // under the lock
        while (!waiting.isEmpty() && waiting.firstEntry().getValue().isDone()) {
            waiting.pollFirstEntry();
        }
    }

    /** How many callers wait. */
    int waitingCount() {
        synchronized (lock) {
            return waiting.size();
        }
    }

    private void reserve() {
        long startNanos = RecipeAccess.session(coordinator).time().monotonicNanos();
        Attempts.whileWanted(requests, this::isWanted, this::attempt).whenComplete((block, failure) -> {
            if (failure == null) {
                RecipeSession session = RecipeAccess.session(coordinator);
                long tookNanos = session.time().monotonicNanos() - startNanos;
                session.metrics().duration("ids.reserve", path.toString(), Duration.ofNanos(tookNanos));
                give(block);
            } else if (!(failure instanceof CancellationException)) {
                fail(failure);
            } // else isWanted() has ended it
        });
    }

    /** Whether a caller waits for the next attempt; if none does, the reservation has ended. */
    private boolean isWanted() {
        synchronized (lock) {
            forgetWhoGaveUp();
            reserving = !waiting.isEmpty();
            return reserving;
        }
    }

    /**
     * Each on a listener thread of its own turn: what one caller does with its id must not keep the others from theirs.
     */
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
                first = waiting.pollFirstEntry().getValue();
                id = next++;
            }
            tell(() -> first.complete(id)); // if its caller gives up meanwhile, the id is lost
        }
        reserve();
    }

    private void fail(Throwable cause) {
        List<CompletableFuture<Long>> failed;
        synchronized (lock) {
            failed = List.copyOf(waiting.values());
            waiting.clear();
            reserving = false;
        }
        failed.forEach(id -> tell(() -> id.completeExceptionally(cause)));
    }

    /**
     * Empty if another is due. Read and write go to one session: were the ensemble lost and another one there in
     * between, the write would not reach it.
     */
    private CompletionStage<Optional<Block>> attempt() {
        Requests pinned = requests.onPresentSession();
        return pinned.read(path)
                .thenCompose(found -> take(pinned, found))
                .exceptionallyCompose(failure -> onFailure(Waiting.cause(failure)));
    }

    private CompletionStage<Optional<Block>> onFailure(Throwable cause) {
        if (cause instanceof NoRoomException) {
            return untilChanged().thenApply(changed -> Optional.empty());
        }
        if (cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException) {
            RecipeAccess.session(coordinator).metrics().count("ids.skip", path.toString());
            return CompletableFuture.completedFuture(Optional.empty());
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
            return write(pinned, first, found).thenApply(stat -> stat.map(written -> new Block(0, blockSize)));
        }
        SequenceRecord record = SequenceRecord.parse(path, found.get().data());
        if (!hasRoom(record)) {
            return CompletableFuture.failedFuture(new NoRoomException());
        }
        Block block = new Block(record.next(), Math.min(record.limit(), record.next() + blockSize));
        SequenceRecord rest = new SequenceRecord(block.end, record.limit(), record.generation());
        return write(pinned, rest, found).thenApply(stat -> stat.map(written -> block));
    }

    /**
     * A limit of another generation says nothing: the store may have been set back to a state from before ids were
     * given.
     */
    private boolean hasRoom(SequenceRecord record) {
        boolean isTrusted = !persisted
                || (record.hasLimit()
                        && record.generation() == requests.session().generation());
        return isTrusted && record.next() < record.limit();
    }

    private CompletionStage<Optional<NodeStat>> write(
            Requests pinned, SequenceRecord record, Optional<GetData.NodeData> found) {
        // A block of which we do not know whether it is ours is not used.
        ConditionalWrite.Proof proof = (node, writes) -> ConditionalWrite.Proof.Verdict.UNKNOWN;
        return new ConditionalWrite(pinned, path, record.data(), ConditionalWrite.Expected.of(found), proof).send();
    }

    /** Completes when the limit may have been raised, at the next change, or nobody waits for that any more. */
    private CompletionStage<Void> untilChanged() {
        CompletableFuture<Void> changed = new CompletableFuture<>();
        synchronized (lock) {
            room = Optional.of(changed);
        }
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
        endWaitInVain(); // they may have given up before that
        return changed;
    }

    private CompletableFuture<Long> endingWaitInVain(long call, CompletableFuture<Long> id) {
        id.whenComplete((given, failure) -> {
            forget(call); // or repeated calls would pile up behind one that waits on
            endWaitInVain();
        });
        return id;
    }

    private void forget(long call) {
        synchronized (lock) {
            waiting.remove(call);
        }
    }

    private void endWaitInVain() {
        Optional<CompletableFuture<Void>> inVain;
        synchronized (lock) {
            forgetWhoGaveUp();
            inVain = waiting.isEmpty() ? room : Optional.empty();
        }
        inVain.ifPresent(changed -> changed.complete(null));
    }

    private void failIfClosed(SessionState state, CompletableFuture<Void> changed) {
        if (state == SessionState.CLOSED) {
            changed.completeExceptionally(new ClosedException(this + ": the coordinator was closed"));
        }
    }

    @Override
    public String toString() {
        return "UniqueIds[" + path + (persisted ? ", persisted" : "") + "]";
    }
}
