package io.conclave.locks;

import io.conclave.grant.FencedGrant;
import java.util.concurrent.CompletableFuture;

/** A lock that is held, until it is closed or lost. */
public interface LockGrant extends FencedGrant {
    /**
     * Completes when another process asks for the release of this lock ({@code requestRelease} of the lock); at once if
     * it asked while the lock was waited for. The holder agrees by closing the grant at a point where its work may end.
     * It need not agree, but the request may have a deadline, and then the grant is lost with
     * {@link io.conclave.error.LossReason#REVOKED}. Never completes exceptionally, and never at all without a request.
     * Its continuations run on the coordinator's listener threads and may block.
     */
    CompletableFuture<Void> revocationRequested();
}
