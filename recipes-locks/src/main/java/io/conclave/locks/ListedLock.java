package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.line.LineMember;
import io.conclave.line.LineRole;
import io.conclave.line.LineView;
import io.conclave.line.Revocation;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock at a path, whose holders and waiters can be listed and asked to release it.
 *
 * @param <G> the kind of grant
 */
abstract class ListedLock<G extends LockGrant> extends AcquiredByWaiting<G> {
    private final LockLine line;
    private final LineRole role;
    private final AtomicReference<@Nullable Lock> view = new AtomicReference<>();

    ListedLock(LockLine line, LineRole role) {
        this.line = line;
        this.role = role;
    }

    /** The lock's znode, in the coordinator's namespace. */
    public NodePath path() {
        return line.path();
    }

    LockLine line() {
        return line;
    }

    LineRole role() {
        return role;
    }

    /**
     * The holder of the lock and the waiters for it, in order. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LockMember> members() throws InterruptedException {
        RecipeSession session = line.session();
        return Waiting.await(session, read(session));
    }

    /** As {@link #members()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<LockMember>> membersAsync() {
        RecipeSession session = line.session();
        return session.onListenerThread("members of " + line.path(), read(session));
    }

    private CompletionStage<List<LockMember>> read(RecipeSession session) {
        return LineView.read(session, line.path(), role.line())
                .thenApply(members -> members.stream().map(this::member).toList());
    }

    /**
     * Asks a holder or waiter to release the lock, and waits for that without a limit of time. The holder hears of it
     * through {@link LockGrant#revocationRequested()}, and need not agree. Never blocks.
     *
     * <p>The request is a word that replaces the data of the member's znode. In Curator's layout it is
     * {@code __REVOKE__}, the only word that Curator's own revocable locks understand. kazoo's layout has no word of
     * its own, and gets {@code unlock}, that of the ZooKeeper recipes page. Holders of this library understand both
     * words in either layout.
     *
     * <p>The coordinator's identities need READ and WRITE on the member's znode, whose ACL is the default ACL of the
     * member's coordinator.
     *
     * @param member one of {@link #members()}; if its znode has gone, another znode of that name is left alone
     * @return completes on a listener thread when the member has gone, and says how; exceptionally with
     *     {@link io.conclave.error.RefusedException}, or if the caller's session is lost or closed; with
     *     {@link io.conclave.error.OutcomeUnknownException} if it is closed before the request is answered, or if its
     *     reply was lost and it cannot be found out whether it was written. Cancelling it stops waiting; the request
     *     stays
     * @throws IllegalArgumentException if the member is not one of this lock
     */
    public CompletableFuture<RevocationOutcome> requestRelease(LockMember member) {
        return Revocation.ask(line.session(), pathOf(member), member.sequence(), word());
    }

    /**
     * As {@link #requestRelease(LockMember)}, but a member that is still there at the deadline loses its place: its
     * znode is deleted, and its grant is lost at once. It may hear of that late, as of a lost session; only the fencing
     * token stops what it writes until then.
     *
     * <p>For that the coordinator's identities need DELETE on the lock's znode as well.
     *
     * @param deadline counted from the moment when the request has been written. Cancelling the future lifts it
     * @throws IllegalArgumentException if the member is not one of this lock, or the deadline is negative
     */
    public CompletableFuture<RevocationOutcome> requestRelease(LockMember member, Duration deadline) {
        return Revocation.ask(line.session(), pathOf(member), member.sequence(), word(), deadline);
    }

    private NodePath pathOf(LockMember member) {
        if (!member.path().parent().equals(Optional.of(line.path()))) {
            throw new IllegalArgumentException("Invalid member " + member.path() + ": it must be one of " + this);
        }
        return member.path();
    }

    private byte[] word() {
        return line.layout().word();
    }

    private LockMember member(LineMember member) {
        return new LockMember(
                member.path(),
                member.bytes(),
                line.layout().modeOf(member.kind()),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    /**
     * This lock as java.util.concurrent knows it: owned by a thread, and reentrant. Every call gives the
     * same view, so a thread that has locked it through one call holds it through another. The view belongs to this
     * object: another object for the same path, also one that {@code withData} has made, has another view, and a thread
     * that locks both waits for itself. So keep the lock, or the view.
     *
     * <p>{@code tryLock()} ends within the coordinator's try timeout. If the store does not answer by then it throws
     * {@link io.conclave.error.NotConnectedException}: {@code false} would say that another one holds the lock, which
     * is not known. Interrupts do not end it, as {@link Lock} has it; the thread's interrupt flag is kept.
     * {@code tryLock(time, unit)} never takes longer than its time and returns {@code false} when that is over, with or
     * without a connection. With a time of zero or less it is as {@code tryLock()}, but an interrupt ends it.
     *
     * <p>{@code lock()} throws {@link SessionGoneException} if the session is lost while waiting; {@code unlock()} and
     * re-entry throw {@link io.conclave.error.GrantLostException} if the lock was lost while held. In a {@code finally}
     * block that exception takes the place of what the body threw; {@link #whileHeld} keeps both, and interrupts the
     * body on a loss, which this view does not. There are no conditions.
     */
    public Lock asLock() {
        Lock present = view.get();
        if (present != null) {
            return present;
        }
        view.compareAndSet(null, new ReentrantLockView(this));
        return Objects.requireNonNull(view.get());
    }

    G acquireUninterruptibly() {
        return waitFor().awaitUninterruptibly();
    }

    Optional<G> tryAcquireUninterruptibly() {
        try {
            return Optional.of(ifFree().awaitUninterruptibly());
        } catch (AcquireTimeoutException e) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + line.path() + ", " + line.coordinator() + "]";
    }
}
