package io.conclave.queues;

import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.Exists;
import io.conclave.spi.Multi;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts an item that was taken where it was, or elsewhere, under its own name: whoever took it does not want it. On the dispatcher. */
final class PutBack implements Witness.Outcome {
    private static final Logger LOG = LoggerFactory.getLogger(PutBack.class);

    private final RecipeSession session;
    private final Witness witness;
    private final NodePath path;
    private final byte[] data;

    private PutBack(RecipeSession session, Witness witness, NodePath path, byte[] data) {
        this.session = session;
        this.witness = witness;
        this.path = path;
        this.data = data;
    }

    /** To its old place. */
    static void of(RecipeSession session, QueueLayout layout, Delivery delivery) {
        Witness witness = new Witness(session, layout.witnesses());
        new PutBack(session, witness, layout.item(delivery.item()), delivery.data()).begin();
    }

    /** To the dead letters. */
    static void toDeadLetters(RecipeSession session, QueueLayout layout, Delivery delivery) {
        LOG.warn(
                "{}: {} cannot be read, and is a dead letter now",
                layout.path(),
                delivery.item().name());
        session.metrics().count("queue.dead", layout.path().toString());
        Witness witness = new Witness(session, layout.witnesses());
        new PutBack(session, witness, layout.dead().child(delivery.item().name()), delivery.data()).begin();
    }

    private void begin() {
        witness.perform(List.of(Create.of(path).withData(data)), this);
        path.parent().ifPresent(QueueAgents.of(session)::onReturned);
    }

    @Override
    public void applied(List<Multi.Result> results) {
        LOG.debug("{}: put back", path);
    }

    @Override
    public void refused(int index, RefusedException refusal) {
        if (Refusals.isNoNode(refusal)) {
            ParentMaker.makeContainers(session, path.parent().orElseThrow()).whenComplete((made, failure) -> {
                if (failure == null) {
                    begin();
                } else {
                    failed(failure);
                }
            });
        } else if (refusal.reason() != RefusalReason.NODE_EXISTS) {
            failed(refusal);
        }
    }

    @Override
    public void notApplied() {
        begin();
    }

    @Override
    public void unclear(boolean first, OutcomeUnknownException cause) {
        if (first) {
            session.send(
                    Exists.of(path),
                    stat -> {
                        if (stat.isEmpty()) {
                            begin();
                        }
                    },
                    failure -> {
                        if (failure instanceof OutcomeUnknownException) {
                            unclear(true, cause);
                        } else {
                            failed(failure);
                        }
                    });
        } else {
            failed(cause);
        }
    }

    @Override
    public void failed(Throwable cause) {
        if (Refusals.mayPass(cause)) {
            LOG.warn("{}: cannot be put back yet, trying again: {}", path, cause.getMessage());
            session.time().schedule(Removal.RETRY_DELAY, () -> session.execute(this::begin));
        } else {
            LOG.warn(
                    "{}: taken for somebody who does not want it any more, and cannot be put back: {}",
                    path,
                    cause.toString());
        }
    }
}
