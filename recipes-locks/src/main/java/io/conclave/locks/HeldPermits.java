package io.conclave.locks;

import io.conclave.line.AbstractGrant;
import io.conclave.node.NodePath;
import java.util.List;

/** The permits that were granted to the head of the admission line. */
final class HeldPermits extends AbstractGrant<PermitRequest> implements PermitGrant {
    private final List<NodePath> paths;
    private final long czxid;

    HeldPermits(PermitRequest request) {
        super(request);
        this.paths = request.leases().paths();
        this.czxid = request.leases().czxid();
    }

    @Override
    public int permits() {
        return paths.size();
    }

    @Override
    public List<NodePath> paths() {
        return paths;
    }

    /** The change that has created the leases. */
    long czxid() {
        return czxid;
    }

    @Override
    public String toString() {
        return "HeldPermits" + paths;
    }
}
