package io.conclave.membership;

import io.conclave.error.LossReason;

/**
 * Is told which partitions a member has. It is called on the coordinator's listener threads and may block; the calls
 * for one partition come one after the other, {@link #acquired} first. What it throws is logged.
 */
public interface PartitionListener {
    /** The partition is held from now on: its work begins. */
    void acquired(PartitionGrant partition);

    /**
     * The work on the partition must end, and has ended when this returns.
     *
     * @param partition still held during the call if the reason is {@link LossReason#RELEASED}: only when this returns
     *     the next member gets it. Not held any more with any other reason, nor if the application has closed the grant
     * @param reason RELEASED if another member is to have it, this one leaves, or the application has closed the grant;
     *     else why it was lost
     */
    void released(PartitionGrant partition, LossReason reason);
}
