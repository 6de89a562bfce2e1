package io.conclave.locks;

import io.conclave.line.Contender;

/** The grant of a reader. */
final class HeldForReading extends HeldLock implements ReadGrant {
    HeldForReading(Contender contender) {
        super(contender);
    }
}
