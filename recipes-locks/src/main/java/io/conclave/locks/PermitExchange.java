package io.conclave.locks;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.Contender;
import io.conclave.line.GrantMeasurements;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.Sender;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The transaction that turns the place at the head of the admission line into leases, and its outcome. State belongs to
 * the dispatcher.
 *
 * <p>It checks the place and the version of the number of permits, creates the leases, and deletes the place. What if
 * its reply is lost? All leases carry one guid in their names. After a sync they are all there (granted), or none is:
 * then the place is still there, and it is tried again, or it is not, and another client has deleted it, or all of the
 * leases. Where some of the leases are left, another client has deleted the others: the grant fails, and the few are
 * given back.
 */
final class PermitExchange {
    private static final int CHECK_OF_PLACE = 0; // its position in the transaction

    private final Sender sender;
    private final Contender place;
    private final SemaphoreLayout layout;
    private final GrantMeasurements measurements;
    private final String guid;
    private final int wanted;
    private final byte[] data;
    private boolean unanswered;
    private boolean stopped;

    /** How the transaction has ended. */
    enum Result {
        /** The place has become leases. */
        TURNED,
        /** The transaction was not answered, or not fully: {@link PermitExchange#findOut} tells. */
        UNKNOWN,
        /** What was seen before was out of date, of the number of permits or of the leases' parent. */
        OUT_OF_DATE,
        /** The place was deleted, of which it may not have heard itself. */
        PLACE_MISSING,
        /** The place had become leases, and some of them were deleted since. */
        SOME_DELETED
    }

    /**
     * The result, with the leases.
     *
     * @param leases none, unless the place has become leases
     */
    record Outcome(Result result, PermitRequest.Leases leases) {
        private static Outcome of(Result result) {
            return new Outcome(result, PermitRequest.Leases.NONE);
        }

        private static Outcome turned(List<NodePath> paths, NodeStat stat) {
            return new Outcome(Result.TURNED, new PermitRequest.Leases(paths, stat.czxid()));
        }
    }

    /**
     * An exchange that has not begun.
     *
     * @param sender takes the reads; what its callbacks throw is its own to handle
     */
    PermitExchange(
            Sender sender,
            Contender place,
            SemaphoreLayout layout,
            GrantMeasurements measurements,
            String guid,
            int wanted,
            byte[] data) {
        this.sender = sender;
        this.place = place;
        this.layout = layout;
        this.measurements = measurements;
        this.guid = guid;
        this.wanted = wanted;
        this.data = data;
    }

    /** Whether the transaction is on its way. */
    boolean isUnanswered() {
        return unanswered;
    }

    /** Sends the transaction, which relies on what was seen. Completes on the dispatcher, also after {@link #stop}. */
    CompletionStage<Outcome> send(PermitAvailability.Seen seen) {
        NodePath ours = place.path().orElseThrow();
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Check.exists(ours));
        seen.version().ifPresent(version -> operations.add(new Check(layout.permits(), version)));
        int checks = operations.size();
        for (int lease = 0; lease < wanted; lease++) {
            operations.add(Create.of(layout.leaseOf(guid)).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        operations.add(Delete.of(ours));
        CompletableFuture<Outcome> answer = new CompletableFuture<>();
        unanswered = true;
        place.turnInto(
                new Multi(operations),
                results -> onTurned(results, answer),
                cause -> onNotTurned(cause, checks, answer));
        return answer;
    }

    private void onTurned(List<Multi.Result> results, CompletableFuture<Outcome> answer) {
        unanswered = false;
        List<NodePath> paths =
                results.stream().flatMap(result -> result.path().stream()).toList();
        Optional<NodeStat> stat =
                results.stream().flatMap(result -> result.stat().stream()).findFirst();
        answer.complete(stat.map(ofLease -> Outcome.turned(paths, ofLease))
                .orElse(Outcome.of(Result.UNKNOWN))); // ZooKeeper 3.5 tells no stat of what a transaction creates
    }

    private void onNotTurned(Throwable cause, int checks, CompletableFuture<Outcome> answer) {
        unanswered = false;
        if (cause instanceof OutcomeUnknownException) {
            answer.complete(Outcome.of(Result.UNKNOWN));
        } else if (Failures.is(cause, RefusalReason.NO_NODE, CHECK_OF_PLACE)) {
            answer.complete(Outcome.of(Result.PLACE_MISSING));
        } else if (cause instanceof RefusedException refused && isWorthAnotherLook(refused, checks)) {
            answer.complete(Outcome.of(Result.OUT_OF_DATE));
        } else {
            answer.completeExceptionally(cause);
        }
    }

    /** Whether what we saw was out of date: of the number of permits, or of the leases' parent. */
    private static boolean isWorthAnotherLook(RefusedException refused, int checks) {
        int operation = refused.operationIndex().orElse(0);
        boolean ofNumber = operation > 0 && operation < checks;
        boolean missing = refused.reason() == RefusalReason.NO_NODE;
        return missing || (ofNumber && refused.reason() == RefusalReason.BAD_VERSION);
    }

    /**
     * The transaction was not answered: the guid tells the outcome. Completes on the dispatcher; after {@link #stop}
     * only if all leases had been listed before.
     */
    CompletionStage<Outcome> findOut() {
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        findOut(outcome);
        return outcome;
    }

    private void findOut(CompletableFuture<Outcome> outcome) {
        measurements.recovering();
        sender.readLatest(
                layout.leases(),
                GetChildren.of(layout.leases()),
                children -> onFound(layout.leasesOf(guid, children.names()), outcome),
                cause -> onNotFoundOut(cause, outcome));
    }

    private void onNotFoundOut(Throwable cause, CompletableFuture<Outcome> outcome) {
        if (stopped) {
            return; // a request that leaves searches for itself
        }
        if (Failures.isNoNode(cause)) {
            onFound(List.of(), outcome); // there is no parent of leases, or one was deleted since it was listed
        } else {
            outcome.completeExceptionally(cause);
        }
    }

    private void onFound(List<NodePath> found, CompletableFuture<Outcome> outcome) {
        if (stopped) {
            return;
        }
        if (found.size() == wanted) {
            sender.read(
                    GetData.of(found.get(0)),
                    node -> outcome.complete(Outcome.turned(found, node.stat())),
                    cause -> onFoundNotRead(cause, outcome));
        } else if (found.isEmpty()) {
            outcome.complete(Outcome.of(Result.OUT_OF_DATE)); // nothing was turned: to be tried again
        } else {
            outcome.complete(Outcome.of(Result.SOME_DELETED));
        }
    }

    private void onFoundNotRead(Throwable cause, CompletableFuture<Outcome> outcome) {
        if (!stopped && Failures.isNoNode(cause)) {
            findOut(outcome); // deleted since it was listed, and the others may be there still
        } else {
            onNotFoundOut(cause, outcome);
        }
    }

    /** The outcome is not wanted any more, except that of a transaction on its way. */
    void stop() {
        stopped = true;
    }
}
