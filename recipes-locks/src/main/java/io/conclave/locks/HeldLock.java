package io.conclave.locks;

import io.conclave.line.Contender;
import io.conclave.line.LineGrant;

/** The grant of a contender in a lock's line. */
class HeldLock extends LineGrant implements LockGrant {
    HeldLock(Contender contender) {
        super(contender);
    }
}
