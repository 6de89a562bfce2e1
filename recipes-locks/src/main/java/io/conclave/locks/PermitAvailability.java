package io.conclave.locks;

import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Whether a semaphore has room: counts the leases that are out, reads how many there may be, and watches both for the
 * head of the admission line.
 *
 * <p>Each look is complete in itself; what an older one still answers does not count. State belongs to the dispatcher.
 */
final class PermitAvailability {
    private final RecipeSession session;
    private final Sender sender;
    private final SemaphoreDefinition semaphore;
    private final SemaphoreLayout layout;
    private final OptionalInt fixed; // the number of permits, unless it lives in a znode
    private final Runnable onChange;
    private final Watcher watcher = this::onEvent;
    private @Nullable CompletableFuture<Seen> current; // the look that has not been answered yet
    private boolean leasesWatched;
    private boolean permitsWatched;
    private boolean stopped;
    private @Nullable PermitCount number;

    /**
     * What one look saw.
     *
     * @param leases how many permits are out
     * @param permits how many there may be; empty if the znode that says so has to be made first
     * @param version the data version of the number of permits, where it lives in a znode
     * @param hasParent whether the parent of leases is there
     * @param watched whether a change of it will be reported; leases without a parent are none, and none but the head
     *     makes some
     */
    record Seen(int leases, OptionalInt permits, OptionalInt version, boolean hasParent, boolean watched) {
        private static final Seen NO_NUMBER = new Seen(0, OptionalInt.empty(), OptionalInt.empty(), false, false);

        boolean has(int wanted) {
            return permits.isPresent() && wanted <= permits.getAsInt() - leases;
        }
    }

    /**
     * @param sender takes the reads; what its callbacks throw is its own to handle
     * @param onChange called on the dispatcher when what was seen with a watch has changed
     */
    PermitAvailability(RecipeSession session, Sender sender, SemaphoreDefinition semaphore, Runnable onChange) {
        this.session = session;
        this.sender = sender;
        this.semaphore = semaphore;
        this.layout = semaphore.layout();
        this.fixed = semaphore.fixedPermits();
        this.onChange = onChange;
    }

    /** Whether a look has not been answered yet. */
    boolean isLooking() {
        return current != null;
    }

    /** Reads. Completes on the dispatcher, unless another look or {@link #stop} comes first. */
    CompletionStage<Seen> look(boolean watched) {
        CompletableFuture<Seen> look = new CompletableFuture<>();
        current = look;
        Optional<Watcher> watch = watched ? Optional.of(watcher) : Optional.empty();
        if (fixed.isEmpty()) {
            sender.send(
                    new GetData(layout.permits(), watch),
                    node -> onNumber(look, node, watched),
                    cause -> onNoNumber(look, cause));
        }
        sender.send(
                new GetChildren(layout.leases(), watch),
                children -> onLeases(look, children.names().size(), true, watched),
                cause -> onNoLeases(look, cause, watched));
        return look;
    }

    private void onNumber(CompletableFuture<Seen> look, GetData.NodeData node, boolean watched) {
        permitsWatched |= watched;
        if (look != current) {
            removeIfStopped();
            return;
        }
        try {
            number = PermitCount.parse(layout.permits(), node); // the leases are answered behind it
        } catch (RefusedException malformed) {
            fail(look, malformed);
        }
    }

    private void onNoNumber(CompletableFuture<Seen> look, Throwable cause) {
        if (!Failures.isNoNode(cause)) {
            fail(look, cause);
        } else if (look == current) {
            current = null;
            look.complete(Seen.NO_NUMBER);
        }
    }

    private void onLeases(CompletableFuture<Seen> look, int leases, boolean hasParent, boolean watched) {
        leasesWatched |= watched && hasParent;
        if (look != current) {
            removeIfStopped();
            return;
        }
        current = null;
        PermitCount read = number;
        int permits = fixed.orElseGet(() -> read == null ? 0 : read.number());
        OptionalInt version = fixed.isPresent() || read == null ? OptionalInt.empty() : OptionalInt.of(read.version());
        look.complete(new Seen(leases, OptionalInt.of(permits), version, hasParent, watched));
    }

    private void onNoLeases(CompletableFuture<Seen> look, Throwable cause, boolean watched) {
        if (Failures.isNoNode(cause)) {
            onLeases(look, 0, false, watched);
        } else {
            fail(look, cause);
        }
    }

    private void fail(CompletableFuture<Seen> look, Throwable cause) {
        if (look == current) {
            current = null;
            look.completeExceptionally(cause);
        }
    }

    /** Makes the number of permits where a look saw none. Completes on the dispatcher. */
    CompletionStage<Void> makeNumber() {
        return PermitCount.makeIfMissing(session, layout.permits(), semaphore.permits())
                .thenAccept(made -> {});
    }

    private void onEvent(NodeEvent event) {
        if (event.path().equals(layout.permits())) {
            permitsWatched = false;
        } else {
            leasesWatched = false;
        }
        onChange.run();
    }

    /**
     * The permits were granted, or are not waited for any more: takes the watches away that are known to be set, so
     * that they do not gather on a semaphore that many give up.
     */
    void stop() {
        stopped = true;
        current = null;
        removeIfStopped();
    }

    private void removeIfStopped() {
        if (!stopped) {
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
