package io.conclave.locks;

import io.conclave.line.HeldTenure;
import io.conclave.node.NodePath;
import java.util.List;

/** The permits that somebody was granted who stood at the head of the admission line. */
final class HeldPermits extends HeldTenure<PermitTenant> implements PermitGrant {
    private final List<NodePath> paths;
    private final long czxid;

    HeldPermits(PermitTenant tenant) {
        super(tenant);
        this.paths = tenant.leases().paths();
        this.czxid = tenant.leases().czxid();
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
