package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Acquisition;
import io.conclave.line.Contender;
import io.conclave.line.LineRole;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * What all locks that are one role in a line have in common; the public ones differ in the role and in the kind of
 * grant.
 *
 * @param <G> the kind of grant
 */
abstract class LineLock<G extends LockGrant> extends ListedLock<G> {
    private final LineRole role;
    private final AtomicReference<@Nullable Lock> view = new AtomicReference<>();

    LineLock(LockLine place, LineRole role) {
        super(place, role);
        this.role = role;
    }

    /** The grant of a contender whose turn it is. */
    abstract G grantOf(Contender contender);

    @Override
    final Acquisition<G> waitFor() {
        Contender contender = enter(true);
        return Acquisition.of(contender, () -> grantOf(contender));
    }

    /** Enters the line; for requests of several locks at a time. */
    Contender enter(boolean patient) {
        return Contender.enter(place().session(), place().path(), role, place().data(), patient);
    }

    // So far acquire(). From here on its other forms.

    @Override
    final Acquisition<G> waitFor(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        Contender contender = enter(true);
        return Acquisition.of(contender, () -> grantOf(contender), timeout);
    }

    @Override
    final Acquisition<G> ifFree() {
        Contender contender = enter(false);
        return Acquisition.ofTry(contender, () -> grantOf(contender));
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
     * {@code tryLock(time, unit)} never takes longer than its time (with a time of zero or less: than the try timeout)
     * and returns {@code false} when that is over, with or without a connection.
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
}
