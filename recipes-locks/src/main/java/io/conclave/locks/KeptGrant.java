package io.conclave.locks;

import io.conclave.grant.FencingToken;
import io.conclave.line.AbstractGrant;
import io.conclave.node.NodePath;

/** The grant of one turn with a kept place. */
final class KeptGrant extends AbstractGrant<KeptRequest> implements LockGrant {
    KeptGrant(KeptRequest request) {
        super(request);
    }

    @Override
    public FencingToken token() {
        return request().token();
    }

    @Override
    public NodePath path() {
        return request().path();
    }

    @Override
    public NodePath absolutePath() {
        if (!request().keepsNoLonger()) {
            ensureHeld();
        }
        return request().session().absolute(path());
    }

    @Override
    public String toString() {
        return "KeptGrant[" + path() + ", token " + token() + "]";
    }
}
