package io.conclave.locks;

/**
 * A mutex whose process keeps its place at the head of the line after a release, and passes it on in memory: the next
 * caller of the same coordinator is granted the lock without a request. Made by {@link DistributedLock#kept}.
 *
 * <p><b>What it shares.</b> All kept locks of one coordinator with the same path, layout, data and {@link Keeping}
 * share one place. To other processes it is an ordinary contender, in Curator's or kazoo's layout; they need not know.
 * A {@link DistributedLock} of the same process is another contender, too.
 *
 * <p><b>Giving way.</b> The process watches the line while it has the place. When another contender stands in it, an
 * idle place is given up at once. One that callers of this process want is passed on in memory {@link
 * Keeping#handOvers} times and for {@link Keeping#time} at most, and then given up; those who still wait enter the line
 * anew, at its end. So the first contender behind waits for {@link Keeping#time} plus the longest single hold, and the
 * one behind n others for n times that, if all of them are kept locks.
 *
 * <p><b>Tokens.</b> Each grant has its own, larger token: the grants of one place count their turns ({@link
 * io.conclave.grant.FencingToken#turn}).
 *
 * <p><b>How it ends.</b> The place is lost with its session, or with its znode; then the grant that has it is lost, as
 * that of any lock, and an idle place is forgotten. While the connection is away nothing is passed on, and callers
 * wait. A request to release ({@link #requestRelease}) reaches the grant that has the place, which is not passed on any
 * more; an idle place is given up at once. A grant whose {@link LockGrant#absolutePath} was asked for, as by a guard of
 * the coordination store, is not passed on either, because such a guard tells places apart, not turns.
 *
 * <p>{@link #members()} shows a kept place as a holder, also while it is idle. Semaphores, shared locks and
 * multi-locks are not kept. Immutable and thread-safe.
 */
public final class KeptLock extends ListedLock<LockGrant> {
    private final KeptPlaces.Key key;

    KeptLock(LockLine line, Keeping keeping) {
        super(line, line.layout().mutex());
        this.key = KeptPlaces.Key.of(line, keeping);
    }

    /** How long and how far the place is kept. */
    public Keeping keeping() {
        return key.keeping();
    }

    @Override
    Entered<LockGrant> enter(boolean patient) {
        KeptRequest request = KeptPlaces.of(line().session()).enter(line(), key, patient);
        return new Entered<>(request, () -> new KeptGrant(request));
    }
}
