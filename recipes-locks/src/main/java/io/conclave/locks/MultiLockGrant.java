package io.conclave.locks;

import io.conclave.grant.FencingToken;
import io.conclave.grant.Grant;
import io.conclave.node.NodePath;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Several locks that are held, all of them: {@link #remaining()} is the least of theirs, and with the first that is
 * lost the others are given back.
 *
 * <p>There is a fencing token for each lock, because each guards its own resource.
 */
public interface MultiLockGrant extends Grant {
    /** The tokens by the absolute paths of the locks, with chroot and namespace in front, in their order. */
    Map<NodePath, FencingToken> tokens();

    /**
     * The grant of one of the locks: its token, and what a guard needs. Closing it gives all back. That of a write lock
     * is a {@link WriteGrant}: a downgrade takes its place out of this grant, so all others are given back, and the
     * reader holds alone. Never blocks.
     *
     * @throws IllegalArgumentException if the lock is none of them
     */
    LockGrant of(SingleLock lock);

    /**
     * Completes, on a listener thread, when another client has asked for one of the locks; to follow is to close this
     * grant. See {@link LockGrant#revocationRequested()}.
     */
    CompletableFuture<Void> revocationRequested();
}
