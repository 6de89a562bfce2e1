package io.conclave.shedlock;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ConclaveException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import net.javacrumbs.shedlock.support.Utils;

/**
 * ShedLock's locks on a coordinator.
 *
 * <pre>{@code
 * LockProvider provider = ConclaveLockProvider.at(coordinator);
 * }</pre>
 *
 * <p>A lock is taken until it is unlocked and its {@code lockAtLeastFor} is over; and in any case until its
 * {@code lockAtMostFor} is over, or, before that, until its holder's session is lost and {@code lockAtLeastFor} is
 * over. Both times begin when the lock is taken, not when a call begins that waits for the connection. So the lock of
 * a process that has died is free soon, and {@code lockAtMostFor} can be long. It is not told to the holder when its
 * session is lost: its task runs on, and another process may begin the same one. If that must not be, see {@link
 * #untilAtMost}.
 *
 * <p>Both times are compared with the clock of the process that asks for the lock, by {@link ClockProvider}, as in
 * ShedLock's other providers that have no clock of the store: clocks of the processes that differ make them too short
 * or too long by as much.
 *
 * <p>{@code lock}, {@code unlock} and {@code extend} never wait for a lock. They block for the answers of the store:
 * while the connection is away until it is back, for the request timeout at most. Then they throw {@link
 * LockException}; {@code lock} and {@code extend} also when the thread is interrupted, whose flag is kept. Of a {@code
 * lock} that failed nothing is left, and an {@code unlock} goes on in the background. Any thread may unlock; a late
 * unlock or extension never harms a successor. The same name can be locked in one process by one caller at a time, too.
 *
 * <p>ShedLock's own ZooKeeper provider and this one exclude each other, on the same path and names, and with the
 * promises of that provider for its own locks.
 *
 * <p>Immutable and thread-safe. It does not close the coordinator.
 */
public final class ConclaveLockProvider implements ExtensibleLockProvider {
    /** Where locks are unless told otherwise: as ShedLock's own ZooKeeper provider has them. */
    public static final String DEFAULT_PATH = "/shedlock";

    private static final String PROCESS = ProcessHandle.current().pid() + "@" + Utils.getHostname();
    private static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(10);

    /** A shorter lockAtMostFor is that of a test, as ShedLock's own, which counts on a lock that is over at once. */
    private static final Duration LEAST_REFUSED = Duration.ofSeconds(1);

    private final Coordinator coordinator;
    private final NodePath path;
    private final Duration requestTimeout;
    private final boolean endsWithHolder;

    private ConclaveLockProvider(
            Coordinator coordinator, NodePath path, Duration requestTimeout, boolean endsWithHolder) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
        this.requestTimeout = requestTimeout;
        this.endsWithHolder = endsWithHolder;
    }

    /** Locks at {@value #DEFAULT_PATH}, with a request timeout of 10 seconds. */
    public static ConclaveLockProvider at(Coordinator coordinator) {
        return at(coordinator, DEFAULT_PATH);
    }

    /**
     * Locks at a path of the coordinator's namespace.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static ConclaveLockProvider at(Coordinator coordinator, String path) {
        return new ConclaveLockProvider(coordinator, NodePath.of(path), DEFAULT_REQUEST_TIMEOUT, true);
    }

    /**
     * With this limit for how long a call waits for answers of the store.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public ConclaveLockProvider withRequestTimeout(Duration timeout) {
        if (Waiting.checkedTimeout(timeout).isZero()) {
            throw new IllegalArgumentException("Invalid request timeout 0: the store needs some time to answer");
        }
        return new ConclaveLockProvider(coordinator, path, timeout, endsWithHolder);
    }

    /**
     * Whose locks stay taken until they are unlocked or {@code lockAtMostFor} is over, even if the holder's session is
     * lost: for tasks that must not begin again while the first process may still be at it. The price is that the lock
     * of a process that has died is taken until then, as with ShedLock's other providers.
     */
    public ConclaveLockProvider untilAtMost() {
        return new ConclaveLockProvider(coordinator, path, requestTimeout, false);
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration asked) {
        String owner = UUID.randomUUID().toString();
        LockChange<Optional<LockConfiguration>> change = change(asked, seen -> {
            boolean isOurs = seen.isOf(owner); // the reply was lost, perhaps long ago: its times begin anew
            return isOurs || seen.isFree(ClockProvider.now()) ? takes(seen, asked, owner) : isNotOurs();
        });
        Optional<LockConfiguration> taken = await("lock", asked, change, () -> undo(asked, owner));
        if (asked.getLockAtMostFor().compareTo(LEAST_REFUSED) >= 0
                && taken.filter(ConclaveLockProvider::isOver).isPresent()) {
            undo(asked, owner);
            throw new LockException("Cannot lock " + name(asked) + ": the answer of the store came after its"
                    + " lockAtMostFor of " + Waiting.text(asked.getLockAtMostFor()) + " was over");
        }
        return taken.map(configuration -> new HeldShedLock(this, configuration, owner));
    }

    private static boolean isOver(LockConfiguration configuration) {
        return !configuration.getLockAtMostUntil().isAfter(ClockProvider.now());
    }

    /**
     * Extends the lock, if the owner still has it.
     *
     * @return until when, counted from when it was written; empty if it is not the owner's, or over
     */
    Optional<LockConfiguration> extend(LockConfiguration asked, String owner) {
        LockChange<Optional<LockConfiguration>> change = change(
                asked,
                seen -> seen.isOf(owner) && seen.isTaken(ClockProvider.now())
                        ? takes(seen, asked, owner)
                        : isNotOurs());
        return await("extend", asked, change, () -> {}).filter(extended -> !isOver(extended));
    }

    /**
     * Blocks until the owner does not have the lock any more, for the request timeout at most; it goes on after that.
     * An interrupt does not end it, because tasks that were interrupted unlock, too.
     */
    void unlock(LockConfiguration configuration, String owner) {
        CompletableFuture<Boolean> released =
                free(configuration, owner, configuration.getLockAtLeastUntil(), configuration.getUnlockTime());
        RecipeSession session = RecipeAccess.session(coordinator);
        try {
            Waiting.awaitUninterruptibly(session, Waiting.atMost(session.time(), requestTimeout, released));
            if (!released.isDone()) {
                throw noAnswer(session);
            }
            Waiting.awaitUninterruptibly(session, released);
        } catch (ConclaveException | LockException e) {
            String next = released.isDone() ? "" : "; it is tried until it succeeds";
            throw new LockException(
                    "Cannot unlock " + name(configuration) + ": " + e.getMessage() + next + ". The lock is free after "
                            + configuration.getLockAtMostUntil() + " in any case",
                    e);
        }
    }

    /** As if it had never been taken: nobody has run under it, so lockAtLeastFor does not count. */
    private CompletableFuture<Boolean> undo(LockConfiguration configuration, String owner) {
        Instant now = ClockProvider.now();
        return free(configuration, owner, now, now);
    }

    private CompletableFuture<Boolean> free(
            LockConfiguration configuration, String owner, Instant atLeastUntil, Instant from) {
        return change(configuration, seen -> {
                    if (seen.isOf(owner)) {
                        LockDetails details = new LockDetails(
                                LockDetails.NOBODY, seen.nextVersion(), atLeastUntil, endsWithHolder, PROCESS);
                        return new LockChange.Step<>(seen.unlocked(details, from), true);
                    }
                    return new LockChange.Step<>(seen.withoutHolder(owner), true); // another's lock, or unlocked
                })
                .start();
    }

    /** Both times count from now: what was asked for may have waited for the connection. */
    private LockChange.Step<Optional<LockConfiguration>> takes(SeenLock seen, LockConfiguration asked, String owner) {
        LockConfiguration fromNow = new LockConfiguration(
                ClockProvider.now(), asked.getName(), asked.getLockAtMostFor(), asked.getLockAtLeastFor());
        LockDetails details =
                new LockDetails(owner, seen.nextVersion(), fromNow.getLockAtLeastUntil(), endsWithHolder, PROCESS);
        return new LockChange.Step<>(seen.taken(details, fromNow.getLockAtMostUntil()), Optional.of(fromNow));
    }

    private static LockChange.Step<Optional<LockConfiguration>> isNotOurs() {
        return new LockChange.Step<>(List.of(), Optional.empty());
    }

    private <T> LockChange<T> change(LockConfiguration configuration, LockChange.Rule<T> rule) {
        return new LockChange<>(coordinator, ShedLockNodes.of(path, configuration.getName()), rule);
    }

    /** @param undo called if the change has failed and may have taken effect, or may still do so */
    private <T> T await(String verb, LockConfiguration configuration, LockChange<T> change, Runnable undo) {
        CompletableFuture<T> outcome = change.start();
        try {
            return waitFor(outcome);
        } catch (LockException e) {
            change.giveUp();
            outcome.whenComplete((done, failure) -> {
                if (change.mayHaveWritten()) {
                    undo.run();
                }
            });
            throw new LockException("Cannot " + verb + " " + name(configuration) + ": " + e.getMessage(), e);
        }
    }

    private <T> T waitFor(CompletableFuture<T> outcome) {
        RecipeSession session = RecipeAccess.session(coordinator);
        try {
            return Waiting.await(session, outcome, requestTimeout, () -> noAnswer(session));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockException("the thread was interrupted", e);
        } catch (ConclaveException e) {
            throw new LockException(String.valueOf(e.getMessage()), e);
        }
    }

    private LockException noAnswer(RecipeSession session) {
        String message =
                "the store did not answer within " + Waiting.text(requestTimeout) + " (" + coordinator.state() + ")";
        return session.connectFailure()
                .map(cause -> new LockException(message, cause))
                .orElseGet(() -> new LockException(message));
    }

    private String name(LockConfiguration configuration) {
        return "\"" + configuration.getName() + "\" at " + path;
    }

    @Override
    public String toString() {
        return "ConclaveLockProvider[" + path + ", " + coordinator + "]";
    }
}
