package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import io.conclave.grant.RevocationOutcome;
import io.conclave.line.EntryKind;
import io.conclave.line.LineView;
import io.conclave.line.ProcessName;
import io.conclave.line.Revocation;
import io.conclave.line.RevocationWord;
import io.conclave.line.WhileHeld;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetData;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A number of permits that all processes share that use the same path: first come, first served, without a herd.
 *
 * <p>Several permits are granted at once or not at all, and a waiter holds none, so acquirers of several permits do not
 * block each other. A request for many permits is not overtaken by later ones for few: these wait behind it, even while
 * there is room for them. However an acquire ends, it leaves nothing at the store: at once, or as soon as the
 * connection is back.
 *
 * <p>The number of permits is fixed ({@link #at}), and then must be the same everywhere, or lives in
 * {@code <path>/permits} ({@link #adjustable}) and may be changed while in use: fewer permits take none away, they let
 * those run out that are held.
 *
 * <p>The znodes are laid out exactly as those of Curator's InterProcessSemaphoreV2, and the two share their permits.
 * Permits have no fencing token. While the connection is away an acquire waits; if the session is lost it fails with
 * {@link SessionGoneException}, and a new attempt uses the coordinator's next session. Immutable and thread-safe;
 * making one costs nothing.
 */
public final class DistributedSemaphore extends AcquiredByWaiting<PermitGrant> {
    /** The most permits that one acquire takes, and so the most znodes that one transaction makes. */
    public static final int MAX_AT_ONCE = 1000;

    private static final int MAX_BYTES_AT_ONCE = 500_000; // what a server takes in one request is a megabyte

    private final Coordinator coordinator;
    private final SemaphoreDefinition definition;
    private final byte[] data;

    private DistributedSemaphore(Coordinator coordinator, SemaphoreDefinition definition, byte[] data) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.definition = definition;
        this.data = data;
    }

    /**
     * The semaphore at a path, with a fixed number of permits, which everybody must give alike.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it, or the number is not positive
     */
    public static DistributedSemaphore at(Coordinator coordinator, String path, int permits) {
        return at(coordinator, NodePath.of(path), permits);
    }

    /**
     * The semaphore at a path, with a fixed number of permits; acquirers leave the process id and the host's name as
     * their data.
     */
    public static DistributedSemaphore at(Coordinator coordinator, NodePath path, int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException(
                    "Invalid number of permits " + permits + " of " + path + ": a fixed number must be positive");
        }
        return make(coordinator, path, permits, false);
    }

    /**
     * The semaphore at a path whose number of permits lives in {@code <path>/permits} (four bytes, big-endian, as
     * Curator's SharedCount has it) and can be changed while in use; see {@link #setPermits}.
     *
     * @param initialPermits how many there are until their number is set; not negative
     * @throws IllegalArgumentException if the path breaks a rule, naming it, or the number is negative
     */
    public static DistributedSemaphore adjustable(Coordinator coordinator, String path, int initialPermits) {
        return adjustable(coordinator, NodePath.of(path), initialPermits);
    }

    /** As {@link #adjustable(Coordinator, String, int)}. */
    public static DistributedSemaphore adjustable(Coordinator coordinator, NodePath path, int initialPermits) {
        refuseNegative(path, initialPermits);
        return make(coordinator, path, initialPermits, true);
    }

    private static DistributedSemaphore make(Coordinator coordinator, NodePath path, int permits, boolean adjustable) {
        RecipePaths.requireOwn(path, "a semaphore");
        SemaphoreDefinition definition = new SemaphoreDefinition(new SemaphoreLayout(path), permits, adjustable);
        return new DistributedSemaphore(coordinator, definition, ProcessName.bytes());
    }

    /** The same semaphore; acquirers leave this data for others to see. */
    public DistributedSemaphore withData(byte[] newData) {
        return new DistributedSemaphore(coordinator, definition, newData.clone());
    }

    /**
     * Waits for permits without a limit of time.
     *
     * @param count how many, all at once; of an adjustable semaphore it may be more than there are now
     * @throws IllegalArgumentException if the count is not positive, or more than there are of a fixed number, or than
     *     {@link #MAX_AT_ONCE}
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if the acquire fails
     */
    public PermitGrant acquire(int count) throws InterruptedException {
        return several(count).acquire();
    }

    /**
     * Waits for permits. With a limit of zero it takes what is free at once, as {@link #tryAcquire(int)} does.
     *
     * @param count how many, all at once; see {@link #acquire(int)}
     * @param timeout how long at most
     * @throws AcquireTimeoutException if the time is over; with a limit of zero, if they are not free at once
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if the acquire fails
     */
    public PermitGrant acquire(int count, Duration timeout) throws InterruptedException {
        return several(count).acquire(timeout);
    }

    /**
     * Waits for permits, does the work on the calling thread while they are held, and gives them back. The recommended
     * form: a loss is never silent. It interrupts the work, and the caller gets a {@link GrantLostException} when the
     * work has ended; what the work threw then is a suppressed exception of it. See {@link WhileHeld} for what happens
     * to interrupts from elsewhere.
     *
     * @param count how many, all at once; see {@link #acquire(int)}
     * @param timeout how long to wait at most; zero as in {@link #acquire(int, Duration)}
     * @throws GrantLostException if one of the permits was lost before the work ended
     * @throws AcquireTimeoutException if the time is over; the work was not begun
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout; the work was not begun
     * @throws X what the work throws
     * @throws InterruptedException if the thread is interrupted while it waits; the work was not begun
     */
    public <X extends Exception> void whileHeld(int count, Duration timeout, HeldWork<? super PermitGrant, X> work)
            throws X, InterruptedException {
        several(count).whileHeld(timeout, work);
    }

    /** As {@link #whileHeld(int, Duration, HeldWork)}, without a limit of time for the wait. */
    public <X extends Exception> void whileHeld(int count, HeldWork<? super PermitGrant, X> work)
            throws X, InterruptedException {
        several(count).whileHeld(work);
    }

    /** As {@link #whileHeld(int, Duration, HeldWork)}, with a result. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            int count, Duration timeout, HeldCall<? super PermitGrant, R, X> work) throws X, InterruptedException {
        return several(count).callWhileHeld(timeout, work);
    }

    /** As {@link #callWhileHeld(int, Duration, HeldCall)}, without a limit of time for the wait. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            int count, HeldCall<? super PermitGrant, R, X> work) throws X, InterruptedException {
        return several(count).callWhileHeld(work);
    }

    /**
     * Waits for permits without blocking. Completes on a listener thread, with what {@link #acquire(int)} gives or
     * throws; cancelling it leaves nothing behind.
     */
    public CompletableFuture<PermitGrant> acquireAsync(int count) {
        return several(count).acquireAsync();
    }

    /**
     * As {@link #acquireAsync(int)}, with a limit of time after which it fails with {@link AcquireTimeoutException}.
     * With a limit of zero it takes what is free at once, and may fail with
     * {@link io.conclave.error.NotConnectedException}, as {@link #acquire(int, Duration)} does.
     */
    public CompletableFuture<PermitGrant> acquireAsync(int count, Duration timeout) {
        return several(count).acquireAsync(timeout);
    }

    /**
     * Takes permits if they are free without waiting for anybody. Blocks for the coordinator's try timeout at most
     * ({@link io.conclave.coordinator.CoordinatorBuilder#tryTimeout}, 1 second if not set), with or without a
     * connection.
     *
     * @return empty if there are not enough permits, or another waiter is ahead in the line, even one that is about to
     *     get its own. Permits that this coordinator is giving back are out until that is confirmed
     * @throws io.conclave.error.NotConnectedException if the store does not answer within the try timeout; nothing is
     *     held
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     */
    public Optional<PermitGrant> tryAcquire(int count) throws InterruptedException {
        return several(count).tryAcquire();
    }

    /** As {@link #tryAcquire(int)}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<PermitGrant>> tryAcquireAsync(int count) {
        return several(count).tryAcquireAsync();
    }

    /**
     * How many permits there are, held ones included; of an adjustable semaphore that has not been used yet, the
     * initial number. Blocks if it is adjustable.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public int permits() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), readPermits());
    }

    /** As {@link #permits()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Integer> permitsAsync() {
        return RecipeAccess.session(coordinator).onListenerThread("permits of " + path(), readPermits());
    }

    private CompletionStage<Integer> readPermits() {
        if (!definition.adjustable()) {
            return CompletableFuture.completedFuture(definition.permits());
        }
        return Waiting.ifThere(RecipeAccess.read(
                        coordinator, GetData.of(definition.layout().permits())))
                .thenApply(node -> node.map(
                                found -> PermitCount.parse(definition.layout().permits(), found)
                                        .number())
                        .orElse(definition.permits()));
    }

    /**
     * Changes the number of permits of an adjustable semaphore, for all its users. Once this has returned, no waiter is
     * granted permits by which more than that would be out; none are taken away, and zero stops all that come. Blocks
     * for a round trip or two.
     *
     * @throws IllegalStateException if the number is fixed
     * @throws IllegalArgumentException if it is negative
     * @throws InterruptedException if the thread is interrupted; it may take effect anyway
     * @throws io.conclave.error.ConclaveException if it failed, or its outcome is unknown; setting the same number
     *     again is harmless
     */
    public void setPermits(int newPermits) throws InterruptedException {
        Waiting.await(RecipeAccess.session(coordinator), set(newPermits));
    }

    /** As {@link #setPermits}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Void> setPermitsAsync(int newPermits) {
        return RecipeAccess.session(coordinator).onListenerThread("setting permits of " + path(), set(newPermits));
    }

    private CompletionStage<Void> set(int newPermits) {
        if (!definition.adjustable()) {
            throw new IllegalStateException("The number of permits of " + path() + " is fixed at "
                    + definition.permits() + "; DistributedSemaphore.adjustable makes one that can be changed");
        }
        refuseNegative(path(), newPermits);
        return PermitCount.set(
                RecipeAccess.session(coordinator), definition.layout().permits(), newPermits);
    }

    /**
     * The holders of permits, one entry for each permit. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<SemaphoreMember> holders() throws InterruptedException {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Waiting.await(session, readHolders(session));
    }

    /** As {@link #holders()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<SemaphoreMember>> holdersAsync() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return session.onListenerThread("holders of " + path(), readHolders(session));
    }

    private CompletionStage<List<SemaphoreMember>> readHolders(RecipeSession session) {
        return read(session, definition.layout().leases(), Set.of(SemaphoreLayout.LEASE));
    }

    /**
     * The waiters for permits, in order. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<SemaphoreMember> waiters() throws InterruptedException {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Waiting.await(session, readWaiters(session));
    }

    /** As {@link #waiters()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<SemaphoreMember>> waitersAsync() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return session.onListenerThread("waiters of " + path(), readWaiters(session));
    }

    private CompletionStage<List<SemaphoreMember>> readWaiters(RecipeSession session) {
        return read(session, definition.layout().line(), Set.of(EntryKind.MUTEX));
    }

    private static CompletionStage<List<SemaphoreMember>> read(
            RecipeSession session, NodePath path, Set<EntryKind> kinds) {
        return LineView.read(session, path, kinds)
                .thenApply(members -> members.stream().map(SemaphoreMember::of).toList());
    }

    /**
     * Asks a holder to release a permit, and waits for that without a limit of time. The holder hears of it through
     * {@link PermitGrant#revocationRequested()}, and need not agree; if it does, all permits of that grant come back.
     * Never blocks.
     *
     * <p>The request is the word {@code unlock}, that of the ZooKeeper recipes page, which replaces the data of the
     * permit's znode. Curator's semaphore cannot be asked, so it has no word of its own. Curator's word
     * {@code __REVOKE__} is understood, too.
     *
     * <p>The coordinator's identities need READ and WRITE on the permit's znode, whose ACL is the default ACL of the
     * holder's coordinator.
     *
     * @param holder one of {@link #holders()}; if its permit is gone, another of that name is left alone
     * @return completes on a listener thread when the permit has gone, and says how; exceptionally with
     *     {@link RefusedException}, or if the own session is lost or closed; with
     *     {@link io.conclave.error.OutcomeUnknownException} if it is closed before the request is answered, or if its
     *     reply was lost and it cannot be found out whether it was written. Cancelling it stops waiting; the request
     *     stays
     * @throws IllegalArgumentException if it is no holder of a permit of this semaphore
     */
    public CompletableFuture<RevocationOutcome> requestRelease(SemaphoreMember holder) {
        return Revocation.ask(
                RecipeAccess.session(coordinator), permitOf(holder), holder.sequence(), RevocationWord.bytes());
    }

    /**
     * As {@link #requestRelease(SemaphoreMember)}, but a permit that is still there at the deadline is deleted, and the
     * grant that has it is lost at once, with all its permits. For that the coordinator's identities need DELETE on
     * {@code <path>/leases} as well.
     *
     * @param deadline counted from the moment when the request has been written. Cancelling the future lifts it
     * @throws IllegalArgumentException if it is no holder of a permit of this semaphore, or the deadline is negative
     */
    public CompletableFuture<RevocationOutcome> requestRelease(SemaphoreMember holder, Duration deadline) {
        return Revocation.ask(
                RecipeAccess.session(coordinator),
                permitOf(holder),
                holder.sequence(),
                RevocationWord.bytes(),
                deadline);
    }

    private NodePath permitOf(SemaphoreMember holder) {
        if (!holder.path().parent().equals(Optional.of(definition.layout().leases()))) {
            throw new IllegalArgumentException(
                    "Invalid holder " + holder.path() + ": it must be one of the permits of " + this);
        }
        return holder.path();
    }

    /** The semaphore's znode, in the coordinator's namespace. */
    public NodePath path() {
        return definition.layout().path();
    }

    @Override
    Entered<PermitGrant> enter(boolean patient) {
        return enter(1, patient);
    }

    private AcquiredByWaiting<PermitGrant> several(int count) {
        return new AcquiredByWaiting<>() {
            @Override
            Entered<PermitGrant> enter(boolean patient) {
                return DistributedSemaphore.this.enter(count, patient);
            }
        };
    }

    private Entered<PermitGrant> enter(int count, boolean patient) {
        if (count < 1 || count > MAX_AT_ONCE) {
            throw new IllegalArgumentException(
                    "Invalid count of permits " + count + " of " + path() + ": it must be from 1 to " + MAX_AT_ONCE);
        }
        if (!definition.adjustable() && count > definition.permits()) {
            throw new IllegalArgumentException("Invalid count of permits " + count + " of " + path() + ": there are "
                    + definition.permits() + ", and that number is fixed");
        }
        if ((long) count * data.length > MAX_BYTES_AT_ONCE) {
            throw new IllegalArgumentException("Invalid count of permits " + count + " of " + path() + " with "
                    + data.length + " bytes of data each: together they must be no more than " + MAX_BYTES_AT_ONCE);
        }
        PermitRequest request =
                PermitRequest.enter(RecipeAccess.session(coordinator), definition, count, patient, data);
        return new Entered<>(request, () -> new HeldPermits(request));
    }

    private static void refuseNegative(NodePath path, int permits) {
        if (permits < 0) {
            throw new IllegalArgumentException(
                    "Invalid number of permits " + permits + " of " + path + ": it must not be negative");
        }
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + path() + ", "
                + (definition.adjustable() ? "adjustable" : definition.permits() + " permits") + ", " + coordinator
                + "]";
    }
}
