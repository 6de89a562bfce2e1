package io.conclave.commit;

import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Watcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes a transaction that is decided, once all its sites have finished, and leaves its decision record; waits for
 * one site at a time. State belongs to the session's dispatcher.
 */
final class Cleanup {
    private static final Logger LOG = LoggerFactory.getLogger(Cleanup.class);

    private final RecipeSession session;
    private final TransactionLayout layout;
    private final DecisionRecord record;
    private final boolean patient;
    private final Runnable onDone;
    private final Watcher watcher = event -> begin();
    private boolean replacesRecord;

    /**
     * Nothing is sent yet.
     *
     * @param record what is kept of the transaction
     * @param patient whether it waits for sites that have not finished
     * @param onDone called on the dispatcher when it is deleted, or when it stays because a site has not finished or
     *     the deletion is refused; not if the session ends first
     */
    Cleanup(RecipeSession session, TransactionLayout layout, DecisionRecord record, boolean patient, Runnable onDone) {
        this.session = session;
        this.layout = layout;
        this.record = record;
        this.patient = patient;
        this.onDone = onDone;
    }

    void begin() {
        session.send(GetChildren.of(layout.path()), children -> onChildren(children.names()), this::onFailure);
    }

    private void onChildren(List<String> names) {
        List<NodePath> own = List.of(layout.coordinator(), layout.decision());
        Optional<String> left = names.stream()
                .filter(name -> !own.contains(layout.path().child(name)))
                .sorted() // presences before votes: those of the dead go by themselves
                .findFirst();
        if (left.isEmpty()) {
            delete(names);
        } else if (patient) {
            waitFor(layout.path().child(left.get()));
        } else {
            onDone.run();
        }
    }

    private void waitFor(NodePath left) {
        session.send(
                GetData.of(left).withWatcher(watcher), // which leaves no watch on a znode that is gone
                node -> {},
                Failures.ifNoNode(this::begin, this::onFailure));
    }

    private void delete(List<String> names) {
        List<Operation<?>> operations = new ArrayList<>();
        names.forEach(name -> operations.add(Delete.of(layout.path().child(name))));
        operations.add(Delete.of(layout.path()));
        if (replacesRecord) {
            operations.add(Delete.of(layout.record()));
        }
        int index = operations.size();
        operations.add(Create.of(layout.record()).withData(record.toBytes()));
        session.send(new Multi(operations), results -> onDeleted(results.get(index)), cause -> {
            if (Failures.is(cause, RefusalReason.NODE_EXISTS, index)) {
                // Of an earlier transaction of this id, by a process that knows no records: this decision is the last.
                replacesRecord = true;
                begin();
            } else if (Failures.is(cause, RefusalReason.NO_NODE, index)) {
                makeShard();
            } else {
                replacesRecord = false;
                onFailure(cause);
            }
        });
    }

    private void onDeleted(Multi.Result created) {
        created.stat().ifPresent(stat -> RecordSweep.ifDue(session, layout.base(), record.retention(), stat.ctimeMs()));
        onDone.run();
    }

    /** The transaction was begun by a process that knows no records, or an operator has deleted their parent. */
    private void makeShard() {
        Waiting.whenDone(
                ParentMaker.makePersistent(session, layout.recordShard()),
                made -> session.execute(this::begin),
                cause -> session.execute(() -> onFailure(cause)));
    }

    private void onFailure(Throwable cause) {
        if (Failures.isSessionOver(cause)) {
            return; // the session's state tells what follows
        }
        if (Failures.isNoNode(cause)) {
            lookWhetherThere();
        } else if (Failures.isStateChanged(cause)) {
            begin();
        } else {
            Retry.ifItMayPass(session, layout.path(), cause, this::begin, refusal -> {
                LOG.error("Cannot delete {}; it stays", layout.path(), refusal);
                onDone.run();
            });
        }
    }

    /** Another client deletes it, too: it has gone, or only a part of what was listed. */
    private void lookWhetherThere() {
        session.send(
                Exists.of(layout.path()),
                stat -> {
                    if (stat.isPresent()) {
                        begin();
                    } else {
                        onDone.run();
                    }
                },
                this::onFailure);
    }
}
