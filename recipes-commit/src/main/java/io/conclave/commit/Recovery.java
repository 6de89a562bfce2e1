package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes through all transactions whose coordinating session is gone, one after the other: reads the decision or makes
 * it, and deletes what all sites have finished, leaving its decision record. Begins again on the next session.
 *
 * <p>State belongs to the dispatcher of the current session.
 */
final class Recovery implements SessionFollower.Work {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private final SessionFollower follower;
    private final NodePath base;
    private final Map<String, Decision> decisions = new TreeMap<>();
    private final CompletableFuture<Map<String, Decision>> done = new CompletableFuture<>();
    private @Nullable DecisionWait deciding;

    Recovery(Coordinator coordinator, NodePath base) {
        this.follower = new SessionFollower(coordinator, this);
        this.base = base;
    }

    /** Completes on the dispatcher. Never blocks; any thread. */
    CompletableFuture<Map<String, Decision>> begin() {
        follower.follow();
        return done;
    }

    @Override
    public void onSession(RecipeSession next) {
        next.read(
                GetChildren.of(TransactionLayout.transactions(base)),
                transactions -> recover(next, transactions.names(), 0),
                Failures.ifNoNode(this::complete, this::onFailure));
    }

    @Override
    public void onSessionEnded() {
        DecisionWait last = deciding;
        if (last != null) {
            last.stop();
        }
    }

    @Override
    public void onClosed() {
        done.completeExceptionally(new ClosedException("The coordinator was closed while recovering " + base));
    }

    private void complete() {
        follower.end();
        done.complete(Map.copyOf(decisions));
    }

    private void recover(RecipeSession on, List<String> ids, int index) {
        if (index == ids.size()) {
            complete();
            return;
        }
        TransactionLayout layout = new TransactionLayout(base, ids.get(index));
        Runnable next = () -> recover(on, ids, index + 1);
        on.read(Exists.of(layout.coordinator()), stat -> onCoordinator(on, layout, stat, next), this::onFailure);
    }

    private void onCoordinator(
            RecipeSession on, TransactionLayout layout, Optional<NodeStat> coordinator, Runnable next) {
        if (coordinator.isPresent()) {
            next.run(); // its initiator is working on it
            return;
        }
        on.read(
                GetData.of(layout.path()),
                node -> TransactionRecord.parse(node.data())
                        .ifPresentOrElse(record -> decide(on, layout, record, next), next),
                Failures.ifNoNode(next, this::onFailure));
    }

    private void decide(RecipeSession on, TransactionLayout layout, TransactionRecord record, Runnable next) {
        DecisionWait one = new DecisionWait(
                on,
                layout,
                record.sites(),
                decision -> {
                    LOG.info("{}: {}", layout.path(), decision);
                    decisions.put(layout.id(), decision);
                    new Cleanup(on, layout, record.decided(decision), false, next).begin();
                },
                cause -> {
                    if (cause instanceof OutcomeUnknownException) {
                        next.run(); // it was finished and deleted meanwhile
                    } else {
                        onFailure(cause);
                    }
                });
        deciding = one;
        one.begin(false, Duration.ofDays(1)); // it finds the coordinating session gone, and needs no deadline
    }

    private void onFailure(Throwable cause) {
        if (follower.isEnded() || Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        follower.end();
        done.completeExceptionally(cause);
    }
}
