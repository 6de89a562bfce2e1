package io.conclave.locks;

import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Whether a semaphore has room: counts the leases that are out, reads how many there may be, and watches both for the
 * head of the admission line.
 *
 * <p>Each look is complete in itself; what an older one still answers does not count. State belongs to the dispatcher.
 */
final class PermitAvailability {
    private final PermitRequest request;
    private final RecipeSession session;
    private final DistributedSemaphore semaphore;
    private final SemaphoreLayout layout;
    private final OptionalInt fixed; // the number of permits, unless it is in the semaphore's znode
    private final Watcher watcher = this::onEvent; // one object, so that setting it again is no second watch
    private long lookNumber;
    private boolean looking;
    private boolean leasesWatched;
    private boolean permitsWatched;
    private @Nullable PermitCount number;

    /**
     * What one look saw.
     *
     * @param leases how many permits are out
     * @param permits how many there may be
     * @param version the data version of the number of permits, where it lives in a znode
     * @param hasParent whether the parent of leases is there
     * @param watched whether a change of it will be reported; leases without a parent are none, and none but the head
     *     makes some
     */
    record Seen(int leases, int permits, OptionalInt version, boolean hasParent, boolean watched) {
        boolean has(int wanted) {
            return wanted <= permits - leases;
        }
    }

    PermitAvailability(PermitRequest request, DistributedSemaphore semaphore) {
        this.request = request;
        this.session = request.session();
        this.semaphore = semaphore;
        this.layout = semaphore.layout();
        this.fixed = semaphore.fixedPermits();
    }

    /** Whether a look has not been answered yet. */
    boolean isLooking() {
        return looking;
    }

    /** Reads; the request gets the result. */
    void look(boolean watched) {
        long ours = ++lookNumber;
        looking = true;
        Optional<Watcher> watch = watched ? Optional.of(watcher) : Optional.empty();
        if (fixed.isEmpty()) {
            request.send(
                    new GetData(layout.permits(), watch),
                    node -> onNumber(ours, node, watched),
                    cause -> onNoNumber(ours, cause));
        }
        request.send(
                new GetChildren(layout.leases(), watch),
                children -> onLeases(ours, children.names().size(), true, watched),
                cause -> onNoLeases(ours, cause, watched));
    }

    private boolean isCurrent(long look) {
        return looking && look == lookNumber;
    }

    private void onNumber(long look, GetData.NodeData node, boolean watched) {
        permitsWatched |= watched;
        if (!isCurrent(look)) {
            removeIfStopped();
            return;
        }
        try {
            number = PermitCount.parse(layout.permits(), node); // the leases are answered behind it
        } catch (RefusedException malformed) {
            looking = false;
            request.onLookFailed(malformed);
        }
    }

    private void onNoNumber(long look, Throwable cause) {
        if (!isCurrent(look)) {
            return;
        }
        looking = false;
        if (Failures.isNoNode(cause)) {
            makeNumber();
        } else {
            request.onLookFailed(cause);
        }
    }

    private void makeNumber() {
        if (!request.isHead()) {
            return;
        }
        PermitCount.makeIfMissing(session, layout.permits(), semaphore.initialPermits())
                .whenComplete((made, failure) -> request.guarded(() -> {
                    if (failure == null) {
                        request.onRoomMayHaveChanged();
                    } else {
                        request.onLookFailed(Waiting.cause(failure));
                    }
                }));
    }

    private void onLeases(long look, int leases, boolean hasParent, boolean watched) {
        leasesWatched |= watched && hasParent;
        if (!isCurrent(look)) {
            removeIfStopped();
            return;
        }
        looking = false;
        PermitCount read = number;
        int permits = fixed.orElseGet(() -> read == null ? 0 : read.number());
        OptionalInt version = fixed.isPresent() || read == null ? OptionalInt.empty() : OptionalInt.of(read.version());
        request.onSeen(new Seen(leases, permits, version, hasParent, watched));
    }

    private void onNoLeases(long look, Throwable cause, boolean watched) {
        if (Failures.isNoNode(cause)) {
            onLeases(look, 0, false, watched);
        } else if (isCurrent(look)) {
            looking = false;
            request.onLookFailed(cause);
        }
    }

    private void onEvent(NodeEvent event) {
        if (event.path().equals(layout.permits())) {
            permitsWatched = false;
        } else {
            leasesWatched = false;
        }
        request.guarded(request::onRoomMayHaveChanged);
    }

    /**
     * No request waits for permits any more: takes the watches away that are known to be set, so that they do not
     * gather on a semaphore that many give up.
     */
    void stop() {
        looking = false;
        lookNumber++;
        removeIfStopped();
    }

    private void removeIfStopped() {
        if (request.needsRoom()) {
            return;
        }
        if (leasesWatched) {
            leasesWatched = false;
            session.unwatch(layout.leases(), watcher);
        }
        if (permitsWatched) {
            permitsWatched = false;
            session.unwatch(layout.permits(), watcher);
        }
    }
}
