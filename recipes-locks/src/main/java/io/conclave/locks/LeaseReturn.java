package io.conclave.locks;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import io.conclave.spi.Sync;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the leases of one guid back, and does not give up before they are gone or the session is.
 *
 * <p>Several go in one transaction, so that whoever waits for as many is woken once. They are deleted by name, which the guid makes unique; once the connection has been interrupted
 * their creation zxid is compared first. State belongs to the dispatcher.
 */
final class LeaseReturn {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseReturn.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);

    private final RecipeSession session;
    private final SemaphoreLayout layout;
    private final String guid;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private long foundOnConnection = -1;

    LeaseReturn(RecipeSession session, SemaphoreLayout layout, String guid) {
        this.session = session;
        this.layout = layout;
        this.guid = guid;
    }

    /** Completes when nothing is left. Never exceptionally. */
    CompletionStage<Void> done() {
        return done;
    }

    /** There is nothing to give back (any more). */
    void nothingLeft() {
        done.complete(null);
    }

    /** The leases are known as of the present connection. */
    void found() {
        foundOnConnection = session.connectionNumber();
    }

    /** Gives these back, which are all that there are. */
    void give(PermitTenant.Leases leases) {
        if (foundOnConnection == session.connectionNumber()) {
            delete(leases);
        } else {
            readAndDelete(leases); // an operator may have deleted one meanwhile, and made another of its name
        }
    }

    private void delete(PermitTenant.Leases leases) {
        List<NodePath> paths = leases.paths();
        if (paths.size() == 1) {
            session.send(
                    Delete.of(paths.get(0)),
                    deleted -> nothingLeft(),
                    cause -> onFailure(cause, () -> readAndDelete(leases)));
            return;
        }
        List<Operation<?>> deletions =
                paths.stream().<Operation<?>>map(Delete::of).toList();
        session.send(new Multi(deletions), deleted -> nothingLeft(), cause -> {
            if (Refusals.isNoNode(cause)) {
                readAndDelete(leases); // one is gone, so none was deleted
            } else {
                onFailure(cause, () -> readAndDelete(leases));
            }
        });
    }

    private void readAndDelete(PermitTenant.Leases leases) {
        List<NodePath> present = new ArrayList<>();
        NodePath last = leases.paths().get(leases.paths().size() - 1);
        List<Throwable> failures = new ArrayList<>();
        for (NodePath path : leases.paths()) { // answered in order
            session.submit(GetData.of(path)).whenComplete((node, failure) -> {
                if (failure == null) {
                    if (node.stat().czxid() == leases.czxid()) {
                        present.add(path);
                    }
                } else if (!Refusals.isNoNode(Waiting.cause(failure))) {
                    failures.add(Waiting.cause(failure));
                }
                if (path.equals(last)) {
                    onRead(leases, present, failures);
                }
            });
        }
    }

    private void onRead(PermitTenant.Leases leases, List<NodePath> present, List<Throwable> failures) {
        if (!failures.isEmpty()) {
            onFailure(failures.get(0), () -> readAndDelete(leases));
        } else if (present.isEmpty()) {
            nothingLeft();
        } else {
            delete(new PermitTenant.Leases(List.copyOf(present), leases.czxid()));
        }
    }

    /** Finds by the guid what there is, and gives that back. */
    void search() {
        // One after the other: a list that came by another connection than the sync may be older than the creation.
        session.send(Sync.of(layout.leases()), synced -> list(), cause -> onFailure(cause, this::search));
    }

    private void list() {
        session.send(
                GetChildren.of(layout.leases()),
                children -> giveEach(layout.leasesOf(guid, children.names())),
                cause -> onFailure(cause, this::search));
    }

    private void giveEach(List<NodePath> leases) {
        CompletableFuture<?>[] deletions = leases.stream()
                .map(lease -> session.submit(Delete.of(lease)).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(deletions).whenComplete((all, failure) -> {
            if (failure == null) {
                nothingLeft();
            } else if (leases.size() > 1 && Refusals.isNoNode(Waiting.cause(failure))) {
                search(); // what became of the others is not known from that
            } else {
                onFailure(Waiting.cause(failure), this::search);
            }
        });
    }

    private void onFailure(Throwable cause, Runnable again) {
        if (cause instanceof OutcomeUnknownException) {
            again.run();
        } else if (cause instanceof SessionGoneException
                || cause instanceof ClosedException
                || Refusals.isNoNode(cause)) {
            nothingLeft();
        } else if (Refusals.mayPass(cause)) {
            LOG.warn("Cannot give the leases of {} in {} back yet, trying again: {}", guid, layout, cause.getMessage());
            session.time().schedule(RETRY_DELAY, () -> session.execute(again));
        } else {
            LOG.error("Cannot give the leases of {} in {} back; they stay until the session ends", guid, layout, cause);
            nothingLeft();
        }
    }
}
