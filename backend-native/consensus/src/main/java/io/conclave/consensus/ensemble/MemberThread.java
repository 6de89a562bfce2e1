package io.conclave.consensus.ensemble;

import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;

/** The one thread of a member, and its links; by default the member is alone. */
interface MemberThread {

    /** How the member reaches the others. */
    default PeerLinks links() {
        return PeerLinks.NONE;
    }

    /** There is something for a turn to do; from any thread. */
    void wake();

    /** Runs the action on it between two turns; dropped if the member has ended. From any thread. */
    void execute(Runnable action);

    /** Begins: runs the action first, then turns of the member until it has ended. */
    void begin(MemberLoop member, Runnable first);

    /** The member has recovered, or waits for a cluster: the others may come. From the starter's thread; may block. */
    default void open() {}

    /** What came to the port of the members; from any thread. */
    default PeerCounts peerCounts() {
        return PeerCounts.NONE;
    }

    /** Whether the caller is on it. */
    boolean isCurrent();

    /** The member has ended. Not to be called on the thread. */
    default void close() {}
}
