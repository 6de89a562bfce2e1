package io.conclave.locks;

import io.conclave.grant.Grant;
import io.conclave.node.NodePath;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Permits of a semaphore that are held, all of them until they are closed or one is lost.
 *
 * <p>They have no fencing token: several have permits at a time, so none of them is the one whose writes a store should
 * prefer.
 */
public interface PermitGrant extends Grant {
    /** How many permits these are. */
    int permits();

    /** The znodes of the permits, one each, in the coordinator's namespace. */
    List<NodePath> paths();

    /**
     * Completes, on a listener thread, when another client has asked for one of these permits by writing {@code unlock}
     * or {@code __REVOKE__} into its znode. The holder need not give them back; if it does, by {@link #close()}, all of
     * them go. Never exceptionally; not at all if there is no request.
     */
    CompletableFuture<Void> revocationRequested();
}
