package io.conclave.tree;

import java.util.List;

/** What became of a change. */
public sealed interface Result {
    /** The node was created; the path is the one with the sequence suffix. */
    record Created(String path, ZnodeStat stat) implements Result {}

    /** The node is gone. */
    record Deleted() implements Result {}

    /** The data was set. */
    record DataSet(ZnodeStat stat) implements Result {}

    /** The ACL was set. */
    record AclSet(ZnodeStat stat) implements Result {}

    /** The version was the one demanded. */
    record Checked() implements Result {}

    /** Every part was done; one result for each. */
    record MultiDone(List<Result> results) implements Result {}

    /**
     * No part was done.
     *
     * @param parts how many parts the multi had
     * @param failedPart the index of the first part that was refused
     * @param error why
     */
    record MultiFailed(int parts, int failedPart, TreeError error) implements Result {}

    /** The session was opened or resumed; the record's attachment is the one that its requests must carry. */
    record SessionAttached(SessionRecord session) implements Result {}

    /** The session has ended. */
    record SessionClosed(long sessionId, Change.CloseReason reason) implements Result {}

    /** The session is marked as silent; the zxid is what its end must name. */
    record SessionSuspected(long sessionId, long suspicion) implements Result {}

    /** The session has been heard of. */
    record SessionKept(long sessionId) implements Result {}

    /** {@code /zookeeper/config} names the cluster's members. */
    record Configured() implements Result {}

    /** A new leader's epoch has begun. */
    record TermStarted(long epoch) implements Result {}

    /** What a member said of its state is there for all to compare. */
    record Compared() implements Result {}

    /** The feature level in force from here on. */
    record FeatureLevelRaised(int level) implements Result {}

    /** Nothing was done. */
    record Failed(TreeError error) implements Result {}
}
