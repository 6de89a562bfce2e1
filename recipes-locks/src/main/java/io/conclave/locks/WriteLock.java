package io.conclave.locks;

import io.conclave.line.Contender;

/**
 * The writing half of a {@link SharedLock}: held by one at a time, while no one reads. A writer waits for all that came
 * before it, and holds up all that come after. Immutable and thread-safe.
 */
public final class WriteLock extends LineLock<WriteGrant> implements SingleLock {
    WriteLock(LockLine line) {
        super(line, line.layout().writer());
    }

    @Override
    WriteGrant grantOf(Contender contender) {
        return new HeldWriteLock(contender, line().layout().reader());
    }
}
