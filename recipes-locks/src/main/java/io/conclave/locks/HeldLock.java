package io.conclave.locks;

import io.conclave.line.Contender;
import io.conclave.line.LineGrant;
import io.conclave.node.NodePath;

/** The grant of the head of a lock's line. */
final class HeldLock extends LineGrant implements LockGrant {
    HeldLock(Contender contender) {
        super(contender);
    }

    @Override
    public NodePath path() {
        return contender().path().orElseThrow();
    }

    @Override
    public NodePath absolutePath() {
        return contender().session().absolute(path());
    }
}
