package io.conclave.locks;

import io.conclave.grant.Grant;
import io.conclave.node.NodePath;
import java.util.concurrent.CompletionStage;

/** A lock that is held, until it is closed or lost. */
public interface LockGrant extends Grant {
    /** The holder's znode, in the coordinator's namespace. */
    NodePath path();

    /** The holder's znode as the backend sees it, with chroot and namespace in front: what a {@link StoreGuard} checks. */
    NodePath absolutePath();

    /**
     * Completes when somebody asks for this lock to be given back ({@code askToRelease} of the lock); at once if he did while it was waited for. To follow is to close the grant, when the work
     * has come to a good end; the holder need not, but whoever asks may have set a deadline, and then the grant is lost with {@link
     * io.conclave.error.LossReason#REVOKED}. Never completes exceptionally, and not at all if nobody asks. Its continuations run on the coordinator's listener threads and may block.
     */
    CompletionStage<Void> revocationRequested();
}
