package io.conclave.consensus;

import io.conclave.consensus.entry.EnsembleMember;

/** A requested change of the membership. */
public sealed interface MembershipChange {

    /**
     * Whether to make the change also if no majority of the new voters answers the leader. Then no write is committed,
     * and there is no leader, until one comes; if it never does, the cluster has ended.
     */
    boolean force();

    /**
     * A new member, which joins as a learner; unless it is an observer it becomes a voter once it has caught up. Also:
     * other addresses of a member.
     */
    record Put(EnsembleMember member, boolean force) implements MembershipChange {
        /** Refused without a live majority of the new voters. */
        public Put(EnsembleMember member) {
            this(member, false);
        }
    }

    /** The member goes, and its vote. */
    record Remove(int member, boolean force) implements MembershipChange {
        /** Refused without a live majority of the new voters. */
        public Remove(int member) {
            this(member, false);
        }
    }
}
