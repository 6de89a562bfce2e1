package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Divides a set of partitions among the members of a group: kazoo's SetPartitioner, but when a member comes or goes
 * only its share moves, and all others keep what they have.
 *
 * <pre>{@code
 * Partitioner shards = Partitioner.at(coordinator, "/shards/orders", Set.of("0", "1", "2", "3"));
 * try (PartitionShare mine = shards.join("host-7", listener)) { // begins and ends the work on each
 *     serve();
 * }
 * }</pre>
 *
 * <p>The members are a {@link Group} at {@code <path>/members}. Its first member writes the assignment to
 * {@code <path>/assignment} once the group has been quiet for a time; all follow that. A partition is held through the
 * first place in a line at {@code <path>/partitions/<name>}, as a lock is: so it has one holder at a time, with a
 * fencing token, whatever the members believe of the assignment. A member that has to give a partition up ends its work
 * first; only then the next one gets it.
 *
 * <p>All members give the same partitions. If they differ, those of the first member, in the order of the ids, count.
 * Immutable and thread-safe; making one costs nothing.
 */
public final class Partitioner {
    private static final Duration QUIET_PERIOD = Duration.ofSeconds(1);

    private final Coordinator coordinator;
    private final NodePath path;
    private final SortedSet<String> partitions;
    private final Duration quietPeriod;

    private Partitioner(Coordinator coordinator, NodePath path, SortedSet<String> partitions, Duration quietPeriod) {
        this.coordinator = coordinator;
        this.path = path;
        this.partitions = partitions;
        this.quietPeriod = quietPeriod;
    }

    /**
     * The partitioner at a path.
     *
     * @param partitions their names: any names for znodes, without a slash, not "." or ".."
     * @throws IllegalArgumentException if the path or a name breaks a rule, naming it, or there is no partition
     */
    public static Partitioner at(Coordinator coordinator, String path, Collection<String> partitions) {
        return at(coordinator, NodePath.of(path), partitions);
    }

    /** As {@link #at(Coordinator, String, Collection)}. */
    public static Partitioner at(Coordinator coordinator, NodePath path, Collection<String> partitions) {
        RecipePaths.requireOwn(path, "a partitioner");
        if (partitions.isEmpty()) {
            throw new IllegalArgumentException("Invalid partitions of " + path + ": there must be one at least");
        }
        partitions.forEach(path::child); // which refuses a name that breaks a rule
        return new Partitioner(
                Objects.requireNonNull(coordinator, "coordinator"),
                path,
                Collections.unmodifiableSortedSet(new TreeSet<>(partitions)),
                QUIET_PERIOD);
    }

    /**
     * The same partitioner; the first member waits until nobody has joined or left for this time before it writes a new
     * assignment, so that members that start together are assigned together, and one that comes back quickly finds its
     * share. A second if not set. All members should have the same.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Partitioner withQuietPeriod(Duration period) {
        return new Partitioner(coordinator, path, partitions, Waiting.checkedTimeout(period));
    }

    /**
     * Joins: from now on the member is given its share of the partitions, until the result is closed. Never blocks.
     *
     * @param id any name for a znode; a member that is restarted with the same one finds its share. While another
     *     member has it, this one waits
     * @param listener begins and ends the work on each partition
     * @throws IllegalArgumentException if the id breaks a rule, naming it
     */
    public PartitionShare join(String id, PartitionListener listener) {
        HeldShare share = new HeldShare(coordinator, this, id, Objects.requireNonNull(listener, "listener"));
        share.begin();
        return share;
    }

    /** The partitions, in their order. */
    public SortedSet<String> partitions() {
        return partitions;
    }

    /** The partitioner's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    /** The group of its members. */
    public Group<String> members() {
        return Group.at(coordinator, path.child("members"), DataCodec.TEXT);
    }

    NodePath assignmentPath() {
        return path.child("assignment");
    }

    NodePath line(String partition) {
        return path.child("partitions").child(partition);
    }

    Duration quietPeriod() {
        return quietPeriod;
    }

    @Override
    public String toString() {
        return "Partitioner[" + path + ", " + partitions.size() + " partitions]";
    }
}
