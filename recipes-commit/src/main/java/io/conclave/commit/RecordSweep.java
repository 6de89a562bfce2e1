package io.conclave.commit;

import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes decision records whose retention is over, and tickets that were not used for as long: one look at all of
 * them. It passes over one that it may not read or delete, and stops at a failure that may pass, because the next one
 * goes on.
 *
 * <p>All times are the leader's: a znode's age is what has passed between its creation and the write that gave the
 * sweep its turn. State belongs to the session's dispatcher.
 */
final class RecordSweep {
    private static final Logger LOG = LoggerFactory.getLogger(RecordSweep.class);
    private static final int SWEEPS_PER_RETENTION = 4;

    private final RecipeSession session;
    private final NodePath base;
    private final Duration ticketRetention;
    private final long nowMs;
    private final Queue<NodePath> parents = new ArrayDeque<>(); // not listed yet
    private final Queue<NodePath> nodes = new ArrayDeque<>(); // not looked at yet
    private int deleted;

    private RecordSweep(RecipeSession session, NodePath base, Duration ticketRetention, long nowMs) {
        this.session = session;
        this.base = base;
        this.ticketRetention = ticketRetention;
        this.nowMs = nowMs;
    }

    /**
     * Begins a sweep if the last one is a quarter of the retention ago, and no other process begins one. Never blocks.
     *
     * @param nowMs the time of a write that the caller has just made
     */
    static void ifDue(RecipeSession session, NodePath base, Duration retention, long nowMs) {
        NodePath records = TransactionLayout.records(base);
        session.send(
                Exists.of(records),
                stat -> stat.filter(last -> isDue(last, retention, nowMs))
                        .ifPresent(last -> takeTurn(session, base, retention, last)),
                cause -> LOG.debug("No sweep of {}: {}", records, cause.getMessage()));
    }

    private static boolean isDue(NodeStat last, Duration retention, long nowMs) {
        long sinceMs = nowMs - last.mtimeMs();
        return sinceMs < 0 || sinceMs >= retention.toMillis() / SWEEPS_PER_RETENTION;
    }

    private static void takeTurn(RecipeSession session, NodePath base, Duration retention, NodeStat last) {
        NodePath records = TransactionLayout.records(base);
        session.send(
                SetData.of(records, new byte[0]).withVersion(last.version()),
                stat -> new RecordSweep(session, base, retention, stat.mtimeMs()).begin(),
                cause -> LOG.debug("No turn to sweep {}: {}", records, cause.getMessage()));
    }

    private void begin() {
        NodePath records = TransactionLayout.records(base);
        parents.add(TransactionLayout.tickets(base));
        session.send(
                GetChildren.of(records),
                shards -> {
                    shards.names().forEach(shard -> parents.add(records.child(shard)));
                    goOn();
                },
                this::onFailure);
    }

    private void goOn() {
        NodePath node = nodes.poll();
        NodePath parent = node == null ? parents.poll() : null;
        if (node != null) {
            session.send(GetData.of(node), data -> onNode(node, data), this::onFailure);
        } else if (parent != null) {
            session.send(
                    GetChildren.of(parent),
                    children -> {
                        children.names().forEach(name -> nodes.add(parent.child(name)));
                        goOn();
                    },
                    this::onFailure);
        } else {
            LOG.debug("Deleted {} records and tickets of {}", deleted, base);
        }
    }

    private void onNode(NodePath node, GetData.NodeData data) {
        if (!isOver(node, data)) {
            goOn();
            return;
        }
        session.send(
                Delete.of(node),
                done -> {
                    deleted++;
                    goOn();
                },
                this::onFailure);
    }

    /** What is neither a record nor a ticket of ours is left alone. */
    private boolean isOver(NodePath node, GetData.NodeData data) {
        Duration age = Duration.ofMillis(nowMs - data.stat().ctimeMs());
        if (node.parent().equals(Optional.of(TransactionLayout.tickets(base)))) {
            return age.compareTo(ticketRetention) > 0;
        }
        return DecisionRecord.parse(data.data())
                .filter(record -> age.compareTo(record.retention()) > 0)
                .isPresent();
    }

    private void onFailure(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            goOn(); // another client has deleted it
        } else if (cause instanceof RefusedException && !Failures.mayPass(cause)) {
            LOG.warn("The sweep of {} leaves one where it is: {}", base, cause.getMessage());
            goOn();
        } else {
            LOG.debug("The sweep of {} stops: {}", base, cause.getMessage());
        }
    }
}
