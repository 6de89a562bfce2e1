package io.conclave.locks;

import io.conclave.coordinator.Refusals;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.Contender;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.Check;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import io.conclave.spi.Sync;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The transaction that turns the place at the head of the admission line into leases, and what came of it: for {@link PermitTenant}, on whose dispatcher its state is.
 *
 * <p>It checks the place and the version of the number of permits, creates the leases, and deletes the place. What if its reply is lost? All leases carry one guid in their names. After a sync they are
 * all there (granted), or none is: then the place is still there, and it is tried again, or it is not, and somebody has deleted it, or all of the leases. Where the leases are a few, somebody has deleted
 * the others: the grant fails, and the few are given back.
 */
final class LeaseExchange {
    private static final int CHECK_OF_PLACE = 0; // its position in the transaction

    private final PermitTenant tenant;
    private final Contender place;
    private final SemaphoreLayout layout;
    private final PermitMeasurements measurements;
    private final String guid;
    private final int wanted;
    private final byte[] data;
    private boolean unanswered;

    LeaseExchange(
            PermitTenant tenant,
            Contender place,
            SemaphoreLayout layout,
            PermitMeasurements measurements,
            String guid,
            int wanted,
            byte[] data) {
        this.tenant = tenant;
        this.place = place;
        this.layout = layout;
        this.measurements = measurements;
        this.guid = guid;
        this.wanted = wanted;
        this.data = data;
    }

    /** Whether the transaction is on its way; its answer finds the tenant as he is then. */
    boolean isUnanswered() {
        return unanswered;
    }

    /** Sends the transaction, which relies on what was seen. */
    void send(Room.Seen seen) {
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
                results -> tenant.guarded(() -> onTurned(results)),
                cause -> tenant.guarded(() -> onNotTurned(cause, checks)));
    }

    private void onTurned(List<Multi.Result> results) {
        unanswered = false;
        List<NodePath> paths =
                results.stream().flatMap(result -> result.path().stream()).toList();
        Optional<NodeStat> stat =
                results.stream().flatMap(result -> result.stat().stream()).findFirst();
        if (stat.isPresent()) {
            tenant.have(new PermitTenant.Leases(paths, stat.get().czxid()));
        } else if (tenant.isTurning()) {
            findOut(); // ZooKeeper 3.5 tells no stat of what a transaction creates
        } else {
            tenant.onNotTurnedAnyMore(true);
        }
    }

    private void onNotTurned(Throwable cause, int checks) {
        unanswered = false;
        boolean unknown = cause instanceof OutcomeUnknownException;
        if (!tenant.isTurning()) {
            tenant.onNotTurnedAnyMore(unknown);
        } else if (unknown) {
            findOut();
        } else if (cause instanceof RefusedException refused && isOfPlace(refused)) {
            tenant.placeMissing();
        } else if (cause instanceof RefusedException refused && isWorthAnotherLook(refused, checks)) {
            tenant.lookAgain();
        } else {
            tenant.fail(cause);
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

    /** The transaction was not answered: the guid tells what came of it. */
    private void findOut() {
        measurements.recovering();
        // One after the other: a list that came by another connection than the sync may be older than the transaction.
        tenant.send(
                Sync.of(layout.leases()),
                synced -> tenant.send(
                        GetChildren.of(layout.leases()),
                        children -> onFound(layout.leasesOf(guid, children.names())),
                        this::onNotFoundOut),
                this::onNotFoundOut);
    }

    private void onNotFoundOut(Throwable cause) {
        if (!tenant.isTurning()) {
            return; // whoever leaves searches for himself
        }
        if (cause instanceof OutcomeUnknownException) {
            findOut();
        } else if (Refusals.isNoNode(cause)) {
            onFound(List.of()); // there is no parent of leases, or somebody has deleted one since it was listed
        } else {
            tenant.fail(cause);
        }
    }

    private void onFound(List<NodePath> found) {
        if (!tenant.isTurning()) {
            return;
        }
        if (found.size() == wanted) {
            tenant.send(
                    GetData.of(found.get(0)),
                    node -> tenant.have(
                            new PermitTenant.Leases(found, node.stat().czxid())),
                    this::onFoundNotRead);
        } else if (found.isEmpty()) {
            tenant.lookAgain();
        } else {
            tenant.fail(tenant.lostException(
                    LossReason.NODE_DELETED, "Permits were deleted by somebody else while " + tenant.describe()));
        }
    }

    private void onFoundNotRead(Throwable cause) {
        if (tenant.isTurning() && Refusals.isNoNode(cause)) {
            findOut(); // deleted since it was listed, and the others may be there still
        } else {
            onNotFoundOut(cause);
        }
    }
}
