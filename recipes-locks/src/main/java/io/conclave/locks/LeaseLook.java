package io.conclave.locks;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Reads all leases of a resource, and says which of them are over. On the dispatcher. */
final class LeaseLook {
    private final RecipeSession session;
    private final Sender sender;
    private final LeaseLayout layout;
    private final CompletableFuture<Optional<Seen>> seen = new CompletableFuture<>();
    private final List<Lease> leases = new ArrayList<>();
    private int unanswered; // reads
    private @Nullable Throwable failure;

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

    private LeaseLook(RecipeSession session, Sender sender, LeaseLayout layout) {
        this.session = session;
        this.sender = sender;
        this.layout = layout;
    }

    /**
     * Looks. Completes on the dispatcher; empty if the resource's znode is not there.
     *
     * @param list the request that lists it, with a watch or without
     */
    static CompletionStage<Optional<Seen>> of(
            RecipeSession session, Sender sender, LeaseLayout layout, Request<GetChildren.Children> list) {
        LeaseLook look = new LeaseLook(session, sender, layout);
        sender.send(
                list,
                look::onListed,
                Failures.ifNoNode(
                        () -> look.seen.complete(Optional.empty()), cause -> look.seen.completeExceptionally(cause)));
        return look.seen;
    }

    private void onListed(GetChildren.Children children) {
        List<String> names =
                children.names().stream().filter(LeaseLayout::isLease).toList();
        if (names.isEmpty()) {
            complete(children.stat().version(), Map.of());
            return;
        }
        Map<String, GetDataAnswer> answers = new HashMap<>();
        unanswered = names.size();
        for (String name : names) {
            NodePath path = layout.lease(name);
            sender.send(
                    GetData.of(path),
                    node -> {
                        answers.put(name, new GetDataAnswer(node.stat(), LeaseRecord.parse(node.data())));
                        onRead(children, answers);
                    },
                    cause -> {
                        if (!Failures.isNoNode(cause)) {
                            failure = cause;
                        } // else it has gone since
                        onRead(children, answers);
                    });
        }
    }

    private record GetDataAnswer(NodeStat stat, Optional<LeaseRecord> record) {}

    /** In any order: a read whose reply was lost may be sent again, behind the others. */
    private void onRead(GetChildren.Children children, Map<String, GetDataAnswer> answers) {
        unanswered--;
        if (unanswered > 0) {
            return;
        }
        Throwable cause = failure;
        if (cause != null) {
            seen.completeExceptionally(cause);
        } else {
            complete(children.stat().version(), answers);
        }
    }

    private void complete(int version, Map<String, GetDataAnswer> answers) {
        long nowNanos = session.time().monotonicNanos();
        Map<String, Long> mzxids = new HashMap<>();
        answers.forEach((name, answer) -> mzxids.put(name, answer.stat.mzxid()));
        Map<String, Long> since = LeaseSightings.of(session).saw(session.absolute(layout.path()), mzxids, nowNanos);
        answers.forEach((name, answer) -> {
            long unchangedNanos = nowNanos - since.getOrDefault(name, nowNanos);
            Optional<Duration> left = answer.record.map(record -> left(record, unchangedNanos));
            leases.add(new Lease(name, answer.stat, answer.record, left));
        });
        seen.complete(Optional.of(new Seen(version, List.copyOf(leases))));
    }

    private static Duration left(LeaseRecord record, long unchangedNanos) {
        Duration left = record.lease().minusNanos(unchangedNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
