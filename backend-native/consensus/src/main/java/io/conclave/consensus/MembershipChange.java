package io.conclave.consensus;

import io.conclave.consensus.entry.Member;

/** A wish about who belongs to the cluster. */
public sealed interface MembershipChange {

    /** A new member, which joins as a learner; unless it is an observer it becomes a voter once it has caught up. Also: other addresses of a member. */
    record Put(Member member) implements MembershipChange {}

    /** The member goes, and its vote. */
    record Remove(int member) implements MembershipChange {}
}
