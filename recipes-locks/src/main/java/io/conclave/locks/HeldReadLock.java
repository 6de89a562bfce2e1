package io.conclave.locks;

import io.conclave.line.Contender;

/** The grant of a reader. */
final class HeldReadLock extends HeldLock implements ReadGrant {
    HeldReadLock(Contender contender) {
        super(contender);
    }
}
