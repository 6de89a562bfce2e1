package io.conclave.locks;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.HeldCall;
import io.conclave.grant.HeldWork;
import io.conclave.grant.RevocationOutcome;
import io.conclave.line.Acquisition;
import io.conclave.line.Contender;
import io.conclave.line.LineMember;
import io.conclave.line.LineRole;
import io.conclave.line.LineView;
import io.conclave.line.Revocation;
import io.conclave.line.WhileHeld;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * What all locks that are one role in a line have in common; the public ones differ in the role and in the kind of grant.
 *
 * @param <G> the kind of grant
 */
abstract class LineLock<G extends LockGrant> {
    private final LockLine place;
    private final LineRole role;

    LineLock(LockLine place, LineRole role) {
        this.place = place;
        this.role = role;
    }

    /** The grant of a contender whose turn it is. */
    abstract G grantOf(Contender contender);

    /**
     * Waits for the lock without a limit of time.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if it cannot be had
     */
    public G acquire() throws InterruptedException {
        return Acquisition.of(enter(), this::grantOf).await();
    }

    /**
     * Waits for the lock.
     *
     * @param timeout how long at most
     * @throws AcquireTimeoutException if the time is over
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.ConclaveException if it cannot be had
     */
    public G acquire(Duration timeout) throws InterruptedException {
        return waitFor(timeout).await();
    }

    /**
     * Waits for the lock, does the work on the calling thread while it is held, and gives it back. The recommended form: a loss is
     * never silent. It interrupts the work, and the caller gets a {@link GrantLostException} when the work has ended; what the work threw
     * then is a suppressed exception of it. See {@link WhileHeld} for what happens to interrupts from elsewhere.
     *
     * @param timeout how long to wait at most
     * @throws GrantLostException if the lock was lost before the work ended
     * @throws AcquireTimeoutException if the time is over; the work was not begun
     * @throws X what the work throws
     * @throws InterruptedException if the thread is interrupted while it waits; the work was not begun
     */
    public <X extends Exception> void whileHeld(Duration timeout, HeldWork<? super G, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(timeout), work);
    }

    /** As {@link #whileHeld(Duration, HeldWork)}, without a limit of time for the wait. */
    public <X extends Exception> void whileHeld(HeldWork<? super G, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        WhileHeld.run(acquire(), work);
    }

    /** As {@link #whileHeld(Duration, HeldWork)}, with a result. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(
            Duration timeout, HeldCall<? super G, R, X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(timeout), work);
    }

    /** As {@link #callWhileHeld(Duration, HeldCall)}, without a limit of time for the wait. */
    public <R extends @Nullable Object, X extends Exception> R callWhileHeld(HeldCall<? super G, R, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        return WhileHeld.call(acquire(), work);
    }

    /** Waits for the lock without blocking. Completes on a listener thread, with what {@link #acquire()} gives or throws; cancelling it leaves the line. */
    public CompletableFuture<G> acquireAsync() {
        return Acquisition.of(enter(), this::grantOf).stage(LockGrant::closeAsync);
    }

    /** As {@link #acquireAsync()}, with a limit of time after which it fails with {@link AcquireTimeoutException}. */
    public CompletableFuture<G> acquireAsync(Duration timeout) {
        return waitFor(timeout).stage(LockGrant::closeAsync);
    }

    /**
     * Takes the lock if nobody has it or waits for it, after one round trip. A place of this coordinator that is being given up counts
     * as nobody, and its end is waited for.
     *
     * <p>It blocks for the coordinator's try timeout at most ({@link io.conclave.coordinator.CoordinatorBuilder#tryTimeout}, 1 second if
     * not set), with or without a connection.
     *
     * @return empty if another one holds the lock or waits for it
     * @throws io.conclave.error.NotConnectedException if the store does not answer within the try timeout; nothing is held, and what was
     *     created is deleted as soon as the connection is back
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     */
    public Optional<G> tryAcquire() throws InterruptedException {
        try {
            return Optional.of(ifFree().await());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    Optional<G> tryAcquireUninterruptibly() {
        try {
            return Optional.of(ifFree().awaitUninterruptibly());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    /** As {@link #tryAcquire()}, without blocking. Completes on a listener thread, with what that gives or throws. */
    public CompletableFuture<Optional<G>> tryAcquireAsync() {
        return ifFree().stageIfFree(LockGrant::closeAsync);
    }

    /**
     * Who holds the lock and who waits for it, in order. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LockMember> members() throws InterruptedException {
        RecipeSession session = place.session();
        return Waiting.await(session, LineView.read(session, place.path(), role.line())).stream()
                .map(this::member)
                .toList();
    }

    /**
     * Asks somebody who holds the lock or waits for it to give up, and waits for it without a limit of time: he hears it through {@link LockGrant#revocationRequested()},
     * and need not follow. Never blocks.
     *
     * <p>The wish is a word that is written into his znode, in place of his data. In Curator's layout it is {@code __REVOKE__}, the only one that Curator's own
     * revocable locks understand, so that they are asked as ours are; in kazoo's, which knows none, it is {@code unlock}, that of the ZooKeeper recipes page. Holders of this library
     * understand both in either layout, whoever writes them.
     *
     * <p>The coordinator's identities need READ and WRITE on his znode; its ACL is the default ACL of his coordinator.
     *
     * @param member one of {@link #members()}; if his znode has gone, another of that name is left alone
     * @return completes on a listener thread when he has gone, and says how; exceptionally with {@link io.conclave.error.RefusedException}, or if the own session is lost or
     *     closed. Cancelling it stops waiting; the wish stays
     * @throws IllegalArgumentException if he is no member of this lock
     */
    public CompletableFuture<RevocationOutcome> askToRelease(LockMember member) {
        return Revocation.ask(place.session(), pathOf(member), member.zxid(), word());
    }

    /**
     * As {@link #askToRelease(LockMember)}, but whoever is still there at the deadline is thrown out: his znode is deleted, and his grant is lost at once. He may need a while to hear
     * of that, as with a lost session; what he writes meanwhile is stopped by the fencing token only.
     *
     * <p>For that the coordinator's identities need DELETE on the lock's znode as well.
     *
     * @param deadline counted from the moment when the wish has been written. Cancelling the stage lifts it
     * @throws IllegalArgumentException if he is no member of this lock, or the deadline is negative
     */
    public CompletableFuture<RevocationOutcome> askToRelease(LockMember member, Duration deadline) {
        return Revocation.ask(place.session(), pathOf(member), member.zxid(), word(), deadline);
    }

    private NodePath pathOf(LockMember member) {
        if (!member.path().parent().equals(Optional.of(place.path()))) {
            throw new IllegalArgumentException("Invalid member " + member.path() + ": it must be one of " + this);
        }
        return member.path();
    }

    private byte[] word() {
        return place.roles().word();
    }

    /**
     * This lock as java.util.concurrent knows it: owned by a thread, and reentrant. Each call makes an independent view: threads must share
     * one for re-entry to be seen.
     *
     * <p>{@code tryLock()} ends within the coordinator's try timeout. If the store does not answer by then it throws {@link
     * io.conclave.error.NotConnectedException}: {@code false} would say that another one holds the lock, which is not known. Interrupts do
     * not end it, as {@link Lock} has it; the thread's interrupt flag is kept. {@code tryLock(time, unit)} never takes longer than its time
     * (with a time of zero or less: than the try timeout) and returns {@code false} when that is over, with or without a connection.
     *
     * <p>{@code lock()} throws {@link SessionGoneException} if the session is lost while waiting; {@code unlock()} and re-entry throw {@link
     * io.conclave.error.GrantLostException} if the lock was lost while held. In a {@code finally} block that exception takes the place of
     * what the body threw; {@link #whileHeld} keeps both, and interrupts the body on a loss, which this view does not. There are no
     * conditions.
     */
    public Lock asLock() {
        return new ReentrantLockView(this);
    }

    /** The lock's znode, in the coordinator's namespace. */
    public NodePath path() {
        return place.path();
    }

    LockLine place() {
        return place;
    }

    G acquireUninterruptibly() {
        return Acquisition.of(enter(), this::grantOf).awaitUninterruptibly();
    }

    private Acquisition<G> waitFor(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        return Acquisition.of(enter(), this::grantOf, timeout);
    }

    /** Enters the line; for whoever takes several locks at a time. */
    Contender enter(boolean patient) {
        return patient ? enter() : Contender.enterIfFree(place.session(), place.path(), role, place.data());
    }

    private Contender enter() {
        return Contender.enter(place.session(), place.path(), role, place.data());
    }

    private Acquisition<G> ifFree() {
        return Acquisition.ofTry(enter(false), this::grantOf);
    }

    private LockMember member(LineMember member) {
        return new LockMember(
                member.path(),
                member.bytes(),
                place.roles().modeOf(member.kind()),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + place.path() + ", " + place.coordinator() + "]";
    }
}
