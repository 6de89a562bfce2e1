package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts an item that was taken where it was, or elsewhere, under its own name: the caller that took it does not want it.
 * On the dispatcher.
 */
final class Requeue implements CommitMarker.Outcome {
    private static final Logger LOG = LoggerFactory.getLogger(Requeue.class);

    private final RecipeSession session;
    private final CommitMarker marker;
    private final NodePath path;
    private final byte[] data;
    private final Supplier<CompletionStage<Void>> parentMaker;
    private final boolean overwrites;
    private boolean isThere; // one of its name, which is overwritten

    private Requeue(
            RecipeSession session,
            CommitMarker marker,
            NodePath path,
            byte[] data,
            Supplier<CompletionStage<Void>> parentMaker,
            boolean overwrites) {
        this.session = session;
        this.marker = marker;
        this.path = path;
        this.data = data;
        this.parentMaker = parentMaker;
        this.overwrites = overwrites;
    }

    /** To its old place. */
    static void of(RecipeSession session, QueueLayout layout, Delivery delivery) {
        CommitMarker marker = new CommitMarker(session, layout.commitMarkers());
        NodePath path = layout.item(delivery.item());
        new Requeue(session, marker, path, delivery.data(), () -> layout.makeQueue(session), false).begin();
    }

    /** To the dead letters. One of its name is the item as it was before an operator copied it back. */
    static void toDeadLetters(RecipeSession session, QueueLayout layout, Delivery delivery) {
        LOG.warn(
                "{}: {} cannot be read, and is a dead letter now",
                layout.path(),
                delivery.item().name());
        session.metrics().count("queue.dead", layout.path().toString());
        CommitMarker marker = new CommitMarker(session, layout.commitMarkers());
        NodePath path = layout.dead().child(delivery.item().name());
        Supplier<CompletionStage<Void>> parentMaker = () -> ParentMaker.makeContainers(session, layout.dead());
        new Requeue(session, marker, path, delivery.data(), parentMaker, true).begin();
    }

    private void begin() {
        Operation<?> put = isThere ? SetData.of(path, data) : Create.of(path).withData(data);
        marker.perform(List.of(put), this);
        path.parent().ifPresent(QueueAgents.of(session)::onReturned);
    }

    @Override
    public void applied(List<Multi.Result> results) {
        LOG.debug("{}: put back", path);
    }

    @Override
    public void refused(int index, RefusedException refusal) {
        if (Failures.isNoNode(refusal) && isThere) {
            isThere = false;
            begin();
        } else if (Failures.isNoNode(refusal)) {
            Waiting.whenDone(parentMaker.get(), made -> begin(), this::failed);
        } else if (refusal.reason() != RefusalReason.NODE_EXISTS) {
            failed(refusal);
        } else if (overwrites) {
            isThere = true;
            begin();
        } // else it is back
    }

    @Override
    public void notApplied() {
        begin();
    }

    @Override
    public void unclear(boolean first, OutcomeUnknownException cause) {
        if (first) {
            session.read(
                    Exists.of(path),
                    stat -> {
                        isThere = overwrites && stat.isPresent(); // it may be there from before
                        if (isThere || stat.isEmpty()) {
                            begin();
                        }
                    },
                    failure -> Retry.ifItMayPass(session, path, failure, () -> unclear(true, cause), this::failed));
        } else {
            failed(cause);
        }
    }

    @Override
    public void failed(Throwable cause) {
        if (Failures.mayPass(cause)) {
            LOG.warn("{}: cannot be put back yet, trying again: {}", path, cause.getMessage());
            Retry.later(session, cause, this::begin);
        } else {
            LOG.warn(
                    "{}: taken for a caller that does not want it any more, and cannot be put back: {}",
                    path,
                    cause.toString());
        }
    }
}
