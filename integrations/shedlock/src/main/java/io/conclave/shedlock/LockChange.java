package io.conclave.shedlock;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.GetData.NodeData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.session.SessionState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One change of a lock: look, decide, write on condition of what was seen. If something came between, if the reply was
 * lost, or the session was, it looks again. It goes on until it is decided, or {@link #giveUp given up}.
 *
 * <p>The owner's guid in the record tells after a lost reply whether the write was ours. What is decided without a
 * write is decided on the latest state: a server may lag.
 *
 * @param <T> what it comes to
 */
final class LockChange<T> {
    private static final Logger LOG = LoggerFactory.getLogger(LockChange.class);

    private final Coordinator coordinator;
    private final ShedLockNodes nodes;
    private final Rule<T> rule;
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private volatile boolean isGivenUp;
    private volatile boolean mayHaveWritten;

    /** Decides from what was seen; on the session's dispatcher. */
    interface Rule<T> {
        Step<T> decide(SeenLock seen);
    }

    /**
     * What is done.
     *
     * @param writes one transaction; none if there is nothing to write
     * @param result what it comes to when that is done
     */
    record Step<T>(List<Operation<?>> writes, T result) {}

    LockChange(Coordinator coordinator, ShedLockNodes nodes, Rule<T> rule) {
        this.coordinator = coordinator;
        this.nodes = nodes;
        this.rule = rule;
    }

    /** Begins. Never blocks; completes on a dispatcher. */
    CompletableFuture<T> start() {
        look(RecipeAccess.session(coordinator), false);
        return outcome;
    }

    /** Sends no further write. The outcome completes when the one that is under way is over, whatever becomes of it. */
    void giveUp() {
        isGivenUp = true;
    }

    /** Whether a write was sent, so that it may have taken effect whatever the outcome is. */
    boolean mayHaveWritten() {
        return mayHaveWritten;
    }

    private void look(RecipeSession session, boolean latest) {
        session.execute(() -> {
            if (latest) {
                session.readLatest(
                        nodes.record(),
                        GetData.of(nodes.record()),
                        node -> read(session, true),
                        cause -> onNotSynced(session, cause));
            } else {
                read(session, false);
            }
        });
    }

    private void onNotSynced(RecipeSession session, Throwable cause) {
        if (Failures.isNoNode(cause)) {
            read(session, true);
        } else {
            onFailure(session, Optional.empty(), cause);
        }
    }

    /** The record first: see {@link SeenLock}. */
    private void read(RecipeSession session, boolean latest) {
        CompletionStage<Optional<NodeData>> record = get(session, nodes.record());
        CompletionStage<Optional<NodeData>> details = get(session, nodes.details());
        CompletionStage<Optional<NodeData>> holder = get(session, nodes.holder());
        record.thenCombine(details, (one, two) -> holder.thenApply(three -> new SeenLock(nodes, one, two, three)))
                .thenCompose(seen -> seen)
                .whenComplete((seen, failure) -> {
                    if (failure == null) {
                        onSeen(session, seen, latest);
                    } else {
                        onFailure(session, Optional.empty(), Waiting.cause(failure));
                    }
                });
    }

    private static CompletionStage<Optional<NodeData>> get(RecipeSession session, NodePath path) {
        return Waiting.ifThere(session.submit(GetData.of(path)));
    }

    private void onSeen(RecipeSession session, SeenLock seen, boolean latest) {
        Step<T> step;
        try {
            step = rule.decide(seen);
        } catch (RuntimeException e) {
            outcome.completeExceptionally(e);
            return;
        }
        if (step.writes().isEmpty()) {
            if (latest) {
                outcome.complete(step.result());
            } else {
                look(session, true);
            }
        } else if (isGivenUp) {
            outcome.cancel(false);
        } else {
            mayHaveWritten = true;
            session.send(
                    new Multi(step.writes()),
                    written -> outcome.complete(step.result()),
                    cause -> onFailure(session, Optional.of(seen), cause));
        }
    }

    /** @param seen what the write that failed was conditional on; empty for a read */
    private void onFailure(RecipeSession session, Optional<SeenLock> seen, Throwable cause) {
        if (isGivenUp) {
            outcome.completeExceptionally(cause);
        } else if (cause instanceof OutcomeUnknownException) {
            look(session, true);
        } else if (cause instanceof SessionGoneException) {
            onNextSession(session, cause);
        } else if (Failures.isNoNode(cause) && seen.filter(SeenLock::isAbsent).isPresent()) {
            makeParent(session);
        } else if (seen.isPresent() && Failures.isStateChanged(cause)) {
            look(session, true);
        } else if (Failures.mayPass(cause)) {
            LOG.warn("{}: trying again: {}", nodes.record(), cause.getMessage());
            Retry.later(session, cause, () -> look(session, true));
        } else {
            outcome.completeExceptionally(cause);
        }
    }

    private void makeParent(RecipeSession session) {
        NodePath parent = nodes.record().parent().orElse(NodePath.ROOT);
        ParentMaker.makePersistent(session, parent).whenComplete((made, failure) -> {
            if (failure == null) {
                look(session, true);
            } else {
                onFailure(session, Optional.empty(), Waiting.cause(failure));
            }
        });
    }

    private void onNextSession(RecipeSession gone, Throwable cause) {
        RecipeSession next = RecipeAccess.session(coordinator);
        if (isGivenUp) {
            outcome.completeExceptionally(cause);
        } else if (next != gone) {
            look(next, true);
        } else if (gone.state() == SessionState.CLOSED) { // the coordinator was closed, and has no next one
            outcome.completeExceptionally(Failures.sessionEnded(SessionState.CLOSED, "changing " + nodes.record()));
        } else { // nobody has told the coordinator yet
            gone.time().schedule(Retry.delay(cause), () -> onNextSession(gone, cause));
        }
    }
}
