package io.conclave.locks;

import io.conclave.line.Contender;
import io.conclave.line.LineGrant;
import io.conclave.node.NodePath;

/** The grant of somebody in a lock's line. */
class HeldLock extends LineGrant implements LockGrant {
    HeldLock(Contender contender) {
        super(contender);
    }

    @Override
    public final NodePath path() {
        return contender().path().orElseThrow();
    }

    @Override
    public final NodePath absolutePath() {
        return contender().session().absolute(path());
    }
}
