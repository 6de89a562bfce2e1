package io.conclave.locks;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.Watcher;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Whether a semaphore has room: counts the leases that are out, reads how many there may be, and watches both for the head of the admission line.
 *
 * <p>Each look is complete in itself; what an older one still answers does not count. State belongs to the dispatcher.
 */
final class Room {
    private final PermitTenant tenant;
    private final RecipeSession session;
    private final SemaphoreLayout layout;
    private final OptionalInt fixed;
    private final Watcher watcher = this::onEvent; // one object, so that setting it again is no second watch
    private long lookNumber;
    private boolean looking;
    private boolean leasesWatched;
    private boolean permitsWatched;
    private @Nullable PermitNumber number;

    /**
     * What one look saw.
     *
     * @param leases how many permits are out
     * @param permits how many there may be
     * @param version the data version of the number of permits, where it lives in a znode
     * @param hasParent whether the parent of leases is there
     * @param watched whether a change of it will be told; leases without a parent are none, and nobody but the head makes some
     */
    record Seen(int leases, int permits, OptionalInt version, boolean hasParent, boolean watched) {
        boolean has(int wanted) {
            return wanted <= permits - leases;
        }
    }

    /**
     * Room in a semaphore.
     *
     * @param fixed the number of permits, unless it is in the semaphore's znode
     */
    Room(PermitTenant tenant, SemaphoreLayout layout, OptionalInt fixed) {
        this.tenant = tenant;
        this.session = tenant.session();
        this.layout = layout;
        this.fixed = fixed;
    }

    /** Whether a look has not been answered yet. */
    boolean isLooking() {
        return looking;
    }

    /** Looks; the tenant is told what was seen. */
    void look(boolean watched) {
        long ours = ++lookNumber;
        looking = true;
        Optional<Watcher> watch = watched ? Optional.of(watcher) : Optional.empty();
        if (fixed.isEmpty()) {
            tenant.send(
                    new GetData(layout.permits(), watch),
                    node -> onNumber(ours, node, watched),
                    cause -> onNoNumber(ours, cause));
        }
        tenant.send(
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
            number = PermitNumber.parse(layout.permits(), node); // the leases are answered behind it
        } catch (RefusedException malformed) {
            looking = false;
            tenant.onLookFailed(malformed);
        }
    }

    private void onNoNumber(long look, Throwable cause) {
        if (!isCurrent(look)) {
            return;
        }
        looking = false;
        if (Refusals.isNoNode(cause)) {
            tenant.onNumberMissing();
        } else {
            tenant.onLookFailed(cause);
        }
    }

    private void onLeases(long look, int leases, boolean hasParent, boolean watched) {
        leasesWatched |= watched && hasParent;
        if (!isCurrent(look)) {
            removeIfStopped();
            return;
        }
        looking = false;
        PermitNumber read = number;
        int permits = fixed.orElseGet(() -> read == null ? 0 : read.number());
        OptionalInt version = fixed.isPresent() || read == null ? OptionalInt.empty() : OptionalInt.of(read.version());
        tenant.onSeen(new Seen(leases, permits, version, hasParent, watched));
    }

    private void onNoLeases(long look, Throwable cause, boolean watched) {
        if (Refusals.isNoNode(cause)) {
            onLeases(look, 0, false, watched);
        } else if (isCurrent(look)) {
            looking = false;
            tenant.onLookFailed(cause);
        }
    }

    private void onEvent(NodeEvent event) {
        if (event.path().equals(layout.permits())) {
            permitsWatched = false;
        } else {
            leasesWatched = false;
        }
        tenant.guarded(tenant::onRoomMayHaveChanged);
    }

    /** Nobody waits for room any more: takes the watches away that are known to be set, so that they do not gather on a semaphore that many give up. */
    void stop() {
        looking = false;
        lookNumber++;
        removeIfStopped();
    }

    private void removeIfStopped() {
        if (tenant.needsRoom()) {
            return;
        }
        if (leasesWatched) {
            leasesWatched = false;
            remove(layout.leases());
        }
        if (permitsWatched) {
            permitsWatched = false;
            remove(layout.permits());
        }
    }

    private void remove(NodePath path) {
        if (session.state().isLive()) {
            session.send(new RemoveWatch(path, watcher), removed -> {}, cause -> {
                if (cause instanceof OutcomeUnknownException) {
                    remove(path);
                }
            });
        }
    }
}
