package io.conclave.locks;

import io.conclave.line.Acquisition;
import io.conclave.line.Contender;
import io.conclave.line.JointEntry;
import io.conclave.line.LineRole;
import io.conclave.node.Bytes;
import io.conclave.recipe.Waiting;
import java.time.Duration;

/**
 * What all locks that are one role in a line have in common; the public ones differ in the role and in the kind of
 * grant.
 *
 * @param <G> the kind of grant
 */
abstract class LineLock<G extends LockGrant> extends ListedLock<G> {
    private final LineRole role;

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

    private Contender enter(boolean patient) {
        return Contender.enter(place().session(), place().path(), role, place().data(), patient);
    }

    /** The place in the line, for a request of several locks at a time. */
    JointEntry.Part part() {
        return new JointEntry.Part(place().path(), role, Bytes.copyOf(place().data()));
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
}
