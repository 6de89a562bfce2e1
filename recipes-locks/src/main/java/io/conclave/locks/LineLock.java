package io.conclave.locks;

import io.conclave.line.Contender;
import io.conclave.line.JointEntry;
import io.conclave.line.LineRole;
import io.conclave.node.Bytes;

/**
 * What all locks that are one role in a line have in common; the public ones differ in the role and in the kind of
 * grant.
 *
 * @param <G> the kind of grant
 */
abstract class LineLock<G extends LockGrant> extends ListedLock<G> {
    LineLock(LockLine line, LineRole role) {
        super(line, role);
    }

    /** The grant of a contender whose turn it is. */
    abstract G grantOf(Contender contender);

    @Override
    final Entered<G> enter(boolean patient) {
        Contender contender = Contender.enter(line().session(), path(), role(), line().data(), patient);
        return new Entered<>(contender, () -> grantOf(contender));
    }

    /** The place in the line, for a request of several locks at a time. */
    JointEntry.Part part() {
        return new JointEntry.Part(path(), role(), Bytes.copyOf(line().data()));
    }
}
