package io.conclave.locks;

import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.Contender;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
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

/**
 * The transaction that turns the place at the head of the admission line into leases, and its
 * outcome. Its state belongs to the dispatcher of its {@link PermitRequest}.
 *
 * <p>It checks the place and the version of the number of permits, creates the leases, and deletes the place. What if
 * its reply is lost? All leases carry one guid in their names. After a sync they are all there (granted), or none is:
 * then the place is still there, and it is tried again, or it is not, and another client has deleted it, or all of the
 * leases. Where some of the leases are left, another client has deleted the others: the grant fails, and the few are
 * given back.
 */
final class LeaseExchange {
    private static final int CHECK_OF_PLACE = 0; // its position in the transaction

    private final PermitRequest request;
    private final Contender place;
    private final SemaphoreLayout layout;
    private final PermitMeasurements measurements;
    private final String guid;
    private final int wanted;
    private final byte[] data;
    private boolean unanswered;

    LeaseExchange(
            PermitRequest request,
            Contender place,
            SemaphoreLayout layout,
            PermitMeasurements measurements,
            String guid,
            int wanted,
            byte[] data) {
        this.request = request;
        this.place = place;
        this.layout = layout;
        this.measurements = measurements;
        this.guid = guid;
        this.wanted = wanted;
        this.data = data;
    }

    /** Whether the transaction is on its way; its answer finds the request as it is then. */
    boolean isUnanswered() {
        return unanswered;
    }

    /** Sends the transaction, which relies on what was seen. */
    void send(PermitAvailability.Seen seen) {
        NodePath ours = place.path().orElseThrow();
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Check.exists(ours));
        seen.version().ifPresent(version -> operations.add(new Check(layout.permits(), version)));
        int checks = operations.size();
        for (int lease = 0; lease < wanted; lease++) {
            operations.add(Create.of(layout.leaseOf(guid)).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        operations.add(Delete.of(ours));
        unanswered = true;
        place.turnInto(
                new Multi(operations),
                results -> request.guarded(() -> onTurned(results)),
                cause -> request.guarded(() -> onNotTurned(cause, checks)));
    }

    private void onTurned(List<Multi.Result> results) {
        unanswered = false;
        List<NodePath> paths =
                results.stream().flatMap(result -> result.path().stream()).toList();
        Optional<NodeStat> stat =
                results.stream().flatMap(result -> result.stat().stream()).findFirst();
        if (stat.isPresent()) {
            request.have(new PermitRequest.Leases(paths, stat.get().czxid()));
        } else if (request.isTurning()) {
            findOut(); // ZooKeeper 3.5 tells no stat of what a transaction creates
        } else {
            request.onNotTurnedAnyMore(true);
        }
    }

    private void onNotTurned(Throwable cause, int checks) {
        unanswered = false;
        boolean unknown = cause instanceof OutcomeUnknownException;
        if (!request.isTurning()) {
            request.onNotTurnedAnyMore(unknown);
        } else if (unknown) {
            findOut();
        } else if (cause instanceof RefusedException refused && isOfPlace(refused)) {
            request.placeMissing();
        } else if (cause instanceof RefusedException refused && isWorthAnotherLook(refused, checks)) {
            request.lookAgain();
        } else {
            request.fail(cause);
        }
    }

    /** Whether our own place was not there. */
    private static boolean isOfPlace(RefusedException refused) {
        return refused.reason() == RefusalReason.NO_NODE
                && refused.operationIndex().orElse(-1) == CHECK_OF_PLACE;
    }

    /** Whether what we saw was out of date: of the number of permits, or of the leases' parent. */
    private static boolean isWorthAnotherLook(RefusedException refused, int checks) {
        int operation = refused.operationIndex().orElse(0);
        boolean ofNumber = operation > 0 && operation < checks;
        boolean missing = refused.reason() == RefusalReason.NO_NODE;
        return missing || (ofNumber && refused.reason() == RefusalReason.BAD_VERSION);
    }

    /** The transaction was not answered: the guid tells the outcome. */
    private void findOut() {
        measurements.recovering();
        request.readLatest(
                layout.leases(),
                GetChildren.of(layout.leases()),
                children -> onFound(layout.leasesOf(guid, children.names())),
                this::onNotFoundOut);
    }

    private void onNotFoundOut(Throwable cause) {
        if (!request.isTurning()) {
            return; // a request that leaves searches for itself
        }
        if (Failures.isNoNode(cause)) {
            onFound(List.of()); // there is no parent of leases, or one was deleted since it was listed
        } else {
            request.fail(cause);
        }
    }

    private void onFound(List<NodePath> found) {
        if (!request.isTurning()) {
            return;
        }
        if (found.size() == wanted) {
            request.read(
                    GetData.of(found.get(0)),
                    node -> request.have(
                            new PermitRequest.Leases(found, node.stat().czxid())),
                    this::onFoundNotRead);
        } else if (found.isEmpty()) {
            request.lookAgain();
        } else {
            request.fail(request.lostException(
                    LossReason.NODE_DELETED, "Permits were deleted by another client while " + request.describe()));
        }
    }

    private void onFoundNotRead(Throwable cause) {
        if (request.isTurning() && Failures.isNoNode(cause)) {
            findOut(); // deleted since it was listed, and the others may be there still
        } else {
            onNotFoundOut(cause);
        }
    }
}
