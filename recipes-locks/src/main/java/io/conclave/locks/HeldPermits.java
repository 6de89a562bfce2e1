package io.conclave.locks;

import io.conclave.line.HeldTenure;
import io.conclave.node.NodePath;
import io.conclave.spi.SerialExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The permits that somebody was granted who stood at the head of the admission line. */
final class HeldPermits extends HeldTenure<PermitTenant> implements PermitGrant {
    private final List<NodePath> paths;
    private final long czxid;
    private final CompletableFuture<Void> revocation = new CompletableFuture<>();

    HeldPermits(PermitTenant tenant) {
        super(tenant);
        this.paths = tenant.leases().paths();
        this.czxid = tenant.leases().czxid();
        tenant.revocationRequested().thenRun(() -> new SerialExecutor(
                        "revocationRequested() of " + this,
                        tenant.session().listenerExecutor(),
                        tenant.session().time())
                .execute(() -> revocation.complete(null)));
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
    public CompletionStage<Void> revocationRequested() {
        return revocation.copy();
    }

    @Override
    public String toString() {
        return "HeldPermits" + paths;
    }
}
