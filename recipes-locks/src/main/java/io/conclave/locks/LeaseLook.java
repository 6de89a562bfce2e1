package io.conclave.locks;

import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Reads all leases of a resource, and says which of them are over. On the dispatcher. */
final class LeaseLook {
    /**
     * A lease.
     *
     * @param record what its znode says; empty if it is none of ours, and then it never ends by itself
     * @param left how long it lasts at most from when it was seen, by what this process knows; empty if without end
     */
    record Lease(String id, NodeStat stat, Optional<LeaseRecord> record, Optional<Duration> left) {
        boolean isOver() {
            return left.filter(Duration::isZero).isPresent();
        }

        int permits() {
            return record.map(LeaseRecord::permits).orElse(1);
        }

        @Override
        public String toString() {
            return record.map(known -> "\"" + known.owner() + "\" with a lease of " + Waiting.text(known.lease()))
                            .orElse("a znode that is no lease, and stays until it is deleted")
                    + " (" + id + ")";
        }
    }

    /**
     * What was seen.
     *
     * @param version the version of the resource's znode before that: as long as it stays, no lease has come
     */
    record Seen(int version, List<Lease> leases) {
        /** How many permits are out. */
        int taken() {
            return leases.stream()
                    .filter(lease -> !lease.isOver())
                    .mapToInt(Lease::permits)
                    .sum();
        }

        List<Lease> over() {
            return leases.stream().filter(Lease::isOver).toList();
        }

        /** How long until one more may be over. */
        Optional<Duration> untilNextEnd() {
            return leases.stream()
                    .filter(lease -> !lease.isOver())
                    .flatMap(lease -> lease.left().stream())
                    .min(Duration::compareTo);
        }
    }

    private LeaseLook() {}

    /**
     * Looks. Completes on the dispatcher; empty if the resource's znode is not there.
     *
     * @param list the request that lists it, with a watch or without
     */
    static CompletionStage<Optional<Seen>> of(
            RecipeSession session, Sender sender, LeaseLayout layout, Request<GetChildren.Children> list) {
        return Waiting.ifThere(sender.stage(list))
                .thenCompose(listed -> listed.isEmpty()
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : readAll(sender, layout, listed.get().names())
                                .thenApply(nodes -> Optional.of(
                                        new Seen(listed.get().stat().version(), leases(session, layout, nodes)))));
    }

    private record Node(String id, GetData.NodeData content) {}

    private static CompletionStage<List<Node>> readAll(Sender sender, LeaseLayout layout, List<String> names) {
        return Waiting.all(names.stream().filter(LeaseLayout::isLease).map(name -> readOne(sender, layout, name)))
                .thenApply(found -> found.stream().flatMap(Optional::stream).toList());
    }

    /** Empty if it has gone since it was listed. */
    private static CompletionStage<Optional<Node>> readOne(Sender sender, LeaseLayout layout, String name) {
        return Waiting.ifThere(sender.stage(GetData.of(layout.lease(name))))
                .thenApply(there -> there.map(content -> new Node(name, content)));
    }

    private static List<Lease> leases(RecipeSession session, LeaseLayout layout, List<Node> nodes) {
        long nowNanos = session.time().monotonicNanos();
        Map<String, Long> mzxids = new HashMap<>();
        nodes.forEach(node -> mzxids.put(node.id, node.content.stat().mzxid()));
        Map<String, Long> since =
                LeaseSightings.of(session).saw(session.absolute(layout.path()), session.generation(), mzxids, nowNanos);
        return nodes.stream()
                .map(node -> {
                    long unchangedNanos = nowNanos - since.getOrDefault(node.id, nowNanos);
                    Optional<LeaseRecord> record = LeaseRecord.parse(node.content.data());
                    return new Lease(
                            node.id, node.content.stat(), record, record.map(known -> left(known, unchangedNanos)));
                })
                .toList();
    }

    private static Duration left(LeaseRecord record, long unchangedNanos) {
        Duration left = record.lease().minusNanos(unchangedNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
