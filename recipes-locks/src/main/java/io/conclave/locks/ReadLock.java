package io.conclave.locks;

import io.conclave.line.Contender;

/**
 * The reading half of a {@link SharedLock}: held by any number at once, while no one writes. A reader waits for the
 * writers that came before it only. Immutable and thread-safe.
 */
public final class ReadLock extends LineLock<ReadGrant> implements SingleLock {
    ReadLock(LockLine line) {
        super(line, line.layout().reader());
    }

    @Override
    ReadGrant grantOf(Contender contender) {
        return new HeldReadLock(contender);
    }
}
