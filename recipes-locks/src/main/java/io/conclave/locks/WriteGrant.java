package io.conclave.locks;

import io.conclave.error.GrantLostException;
import io.conclave.error.RefusedException;
import java.util.concurrent.CompletableFuture;

/** A shared lock that is held for writing, until it is closed, lost or downgraded: no other client reads or writes. */
public interface WriteGrant extends LockGrant {
    /**
     * Goes on as a reader in the same place, without a gap in which another writer could come; readers that wait behind
     * are let in at once. The new grant keeps this one's token, and this one ends as if released: closing it afterwards
     * does nothing. Blocks for one round trip; while the connection is away, until the next one is made or the session
     * is gone.
     *
     * <p>From the call on this grant is not held, because readers may be in already. If the backend refuses the
     * exchange, it is held again as before. Closing this grant before the new one is handed over gives both back.
     *
     * @throws GrantLostException if it is not held (any more)
     * @throws RefusedException if the backend refused it; this grant is held as before
     * @throws io.conclave.error.ConclaveException if the session or the coordinator has gone, and with it the lock
     * @throws InterruptedException if the thread is interrupted; the lock is given back, whatever it was by then
     */
    ReadGrant downgrade() throws InterruptedException;

    /**
     * As {@link #downgrade()}, without blocking. Completes on a listener thread, with what that gives or throws;
     * cancelling it, or ending it in another way, gives the lock back.
     */
    CompletableFuture<ReadGrant> downgradeAsync();
}
