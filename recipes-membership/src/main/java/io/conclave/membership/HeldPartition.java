package io.conclave.membership;

import io.conclave.line.Contender;
import io.conclave.line.LineGrant;

/** The grant of a partition: the first place in the partition's line. */
final class HeldPartition extends LineGrant implements PartitionGrant {
    private final String partition;

    HeldPartition(Contender contender, String partition) {
        super(contender);
        this.partition = partition;
    }

    @Override
    public String partition() {
        return partition;
    }
}
