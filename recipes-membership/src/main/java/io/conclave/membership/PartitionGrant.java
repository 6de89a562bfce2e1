package io.conclave.membership;

import io.conclave.grant.FencedGrant;

/**
 * A partition that is held by one member at a time. Its token is larger than that of every earlier holder of the
 * partition. Closing it gives it up for the moment: it is acquired again while it is assigned. End the work before: the
 * listener is told of the release afterwards, when another member may have the partition.
 */
public interface PartitionGrant extends FencedGrant {
    /** The partition's name. */
    String partition();
}
