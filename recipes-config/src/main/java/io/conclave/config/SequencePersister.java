package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.session.Registration;
import io.conclave.spi.SerialExecutor;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a sequence of {@link UniqueIds#persisted} outlive the loss of the whole coordination store: it watches the
 * sequence, and before the ids run out it stores a larger bound elsewhere, and then lets ids be given up to there.
 *
 * <p>The order is what counts: the bound is stored durably <i>before</i> it is written into the sequence as its limit.
 * So every id that anybody was ever given is below the stored bound. If the store comes back empty, or with older data
 * and another generation, the sequence goes on from the stored bound, and no ids are given before that. At worst the
 * ids between are skipped; so they are when a persister dies between the two steps.
 *
 * <p>One persister per sequence is enough, on the leader of an election, say; more of them only skip ids. While none
 * runs, ids are given up to the limit, and then callers wait. What fails is tried again after a pause. Thread-safe;
 * {@code lock} guards the state.
 */
public final class SequencePersister implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SequencePersister.class);
    private static final long MAX_AHEAD = 1_000_000_000_000_000L;

    private final NodePath path;
    private final Reservation reservation;
    private final long ahead;
    private final Requests requests;
    private final TimeSource time;
    private final SerialExecutor threads;
    private final Mirror mirror;
    private final Registration registration;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private Optional<Known> known = Optional.empty(); // touched by the steps alone, one at a time
    private final Object lock = new Object();
    private boolean closed; // @GuardedBy("lock")
    private TimeSource.Timer timer = () -> {}; // @GuardedBy("lock")

    /**
     * A limit that we know to be the largest that the sequence ever had: if the stored bound is larger, that is our own
     * doing, and the next step is to write it.
     */
    private record Known(long czxid, long generation, long limit) {}

    private SequencePersister(Coordinator coordinator, NodePath path, Reservation reservation, long ahead) {
        RecipeSession session = RecipeAccess.session(coordinator);
        this.path = path;
        this.reservation = reservation;
        this.ahead = ahead;
        this.requests = new Requests(coordinator);
        this.time = session.time();
        this.threads = session.listenerThreads("persister of " + path);
        this.mirror = Mirror.of(coordinator, path, MirrorScope.NODE);
        mirror.loaded().whenComplete((done, failure) -> {
            if (failure != null) {
                ready.completeExceptionally(Waiting.cause(failure)); // nothing is loaded any more
            }
        });
        this.registration = mirror.listen(changes -> threads.execute(this::keep));
    }

    /**
     * Begins to keep a sequence; never blocks. The sequence is made if it is not there.
     *
     * @param reservation where the bound is kept; called on listener threads, where it may block
     * @param ahead how far the bound is ahead of the ids that are given, when it has just been raised; raised again
     *     when half of it is used up. So many ids may be skipped by a loss
     * @throws IllegalArgumentException if the path breaks a rule or is the root, or {@code ahead} is not between 1 and
     *     1,000,000,000,000,000
     */
    public static SequencePersister start(Coordinator coordinator, String path, Reservation reservation, long ahead) {
        return start(coordinator, NodePath.of(path), reservation, ahead);
    }

    /** As {@link #start(Coordinator, String, Reservation, long)}. */
    public static SequencePersister start(Coordinator coordinator, NodePath path, Reservation reservation, long ahead) {
        if (ahead < 1 || ahead > MAX_AHEAD) {
            throw new IllegalArgumentException(
                    "Invalid number of ids ahead " + ahead + ": it must be between 1 and " + MAX_AHEAD);
        }
        Objects.requireNonNull(reservation, "reservation");
        return new SequencePersister(coordinator, UniqueIds.checked(path), reservation, ahead);
    }

    /**
     * Completes on a listener thread when the sequence has been looked after for the first time; fails if the persister
     * or the coordinator is closed before that.
     */
    public CompletableFuture<Void> ready() {
        return requests.onListenerThread("persister of " + path, ready); // whose continuations may ask for ids
    }

    /** On a listener thread, one at a time; blocks. */
    private void keep() {
        try {
            while (!isClosed() && step()) {
                LOG.debug("{}: looking again", this);
            }
            if (!isClosed()) {
                ready.complete(null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            later(e);
        } catch (ClosedException e) {
            LOG.debug("{}: {}", this, e.getMessage());
            ready.completeExceptionally(e);
        } catch (ConclaveException e) {
            LOG.info("{}: trying again: {}", this, e.getMessage());
            later(e);
        } catch (Throwable e) { // Kotlin and Scala code may throw anything
            LOG.error("{}: cannot keep the bound, no ids are given beyond the limit; trying again", this, e);
            later(e);
        }
    }

    /**
     * In place of the attempt that waits already, if there is one: the changes of a busy sequence bring attempts as
     * well.
     */
    private void later(Throwable cause) {
        TimeSource.Timer next = time.schedule(Retry.delay(cause), () -> threads.execute(this::keep));
        TimeSource.Timer last;
        synchronized (lock) {
            last = timer;
            timer = next;
        }
        last.cancel();
    }

    private boolean isClosed() {
        synchronized (lock) {
            return closed;
        }
    }

    /**
     * Looks at the sequence, and does what is needed; whether to look again. Read and write go to one session, so that
     * no other ensemble comes in between.
     */
    private boolean step() throws IOException, InterruptedException {
        Requests pinned = requests.onPresentSession();
        Optional<GetData.NodeData> found = Waiting.await(pinned.session(), pinned.readLatest(path));
        Optional<SequenceRecord> there =
                found.filter(node -> !node.bytes().isEmpty()).map(node -> SequenceRecord.parse(path, node.data()));
        long bound = reservation.upperBound();
        SequenceRecord present = there.orElse(new SequenceRecord(0, 0, 0));
        long generation = pinned.session().generation();
        Known now = new Known(found.map(node -> node.stat().czxid()).orElse(0L), generation, present.limit());
        boolean isOlder = !present.hasLimit()
                || present.generation() != generation
                || (present.limit() < bound && !known.equals(Optional.of(now)));
        SequenceRecord next = next(present, bound, generation, isOlder);
        known = isOlder ? Optional.empty() : Optional.of(now);
        if (next.limit() > bound) {
            reservation.raise(next.limit()); // before anybody may have such an id
        }
        if (there.isPresent() && next.equals(present)) {
            return false;
        }
        if (next.next() > present.next()) {
            LOG.warn("{}: the sequence goes on from the stored bound {}, not from {}", this, bound, present.next());
        }
        write(pinned, next, ConditionalWrite.Expected.of(found));
        return true; // it was written, or another client was quicker
    }

    private SequenceRecord next(SequenceRecord present, long bound, long generation, boolean isOlder) {
        long next = isOlder ? Math.max(present.next(), bound) : present.next();
        long limit = present.hasLimit() ? Math.max(present.limit(), bound) : Math.max(next, bound);
        boolean isNearLimit = limit - next <= ahead / 2;
        return new SequenceRecord(next, isNearLimit ? next + ahead : limit, generation);
    }

    private void write(Requests pinned, SequenceRecord record, ConditionalWrite.Expected expected)
            throws InterruptedException {
        ConditionalWrite.Proof proof = (node, writes) -> ConditionalWrite.Proof.Verdict.REFUSED; // look again
        CompletionStage<?> written = new ConditionalWrite(pinned, path, record.data(), expected, proof).send();
        Waiting.await(pinned.session(), written);
    }

    /**
     * Ends it; ids are given up to the limit that stands. Idempotent; blocks for nothing, a step that is under way may
     * go on for a moment.
     */
    @Override
    public void close() {
        TimeSource.Timer last;
        synchronized (lock) {
            closed = true;
            last = timer;
        }
        last.cancel();
        registration.close();
        mirror.close();
        ready.completeExceptionally(new ClosedException("Closed: " + this));
    }

    /**
     * As {@link #close()}; completes on a listener thread when a step that was under way has ended, so that this
     * persister does nothing more.
     */
    public CompletableFuture<Void> closeAsync() {
        close();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        threads.execute(() -> ended.complete(null));
        return ended;
    }

    @Override
    public String toString() {
        return "SequencePersister[" + path + ", " + reservation + "]";
    }
}
