package io.conclave.locks;

import io.conclave.line.RevocationWord;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;

/**
 * Watches the leases of a holder: tells when one is not there any more, and when another client asks for one by the
 * word in its znode.
 *
 * <p>State belongs to the dispatcher.
 */
final class PermitWatch {
    private final PermitRequest request;
    private final Watcher watcher = this::onEvent;

    PermitWatch(PermitRequest request) {
        this.request = request;
    }

    /** Watches all of them. A deletion before the watch is set is reported by the answer, one after it by the event. */
    void watch(PermitRequest.Leases leases) {
        leases.paths().forEach(this::watch);
    }

    private void watch(NodePath lease) {
        if (request.isHeld()) {
            request.read(GetData.of(lease).withWatcher(watcher), this::onRead, cause -> onNotWatched(lease, cause));
        }
    }

    /** A refusal that may pass, as one by the bound of the session's queue, does not cost a holder its permits. */
    private void onNotWatched(NodePath lease, Throwable cause) {
        if (Failures.isNoNode(cause)) {
            request.leaseVanished();
        } else if (request.isHeld()) {
            Retry.ifItMayPass(
                    request.session(), request, cause, () -> request.guarded(() -> watch(lease)), request::fail);
        }
    }

    private void onRead(GetData.NodeData node) {
        if (!request.isHeld()) {
            return;
        }
        if (node.stat().czxid() != request.leases().czxid()
                || node.stat().ephemeralOwner() != request.session().id()) {
            request.leaseVanished(); // another one of the same name
        } else if (node.stat().version() > 0 && RevocationWord.isIn(node.data())) {
            request.askedToGiveUp();
        }
    }

    private void onEvent(NodeEvent event) {
        request.guarded(() -> {
            if (event.type() == NodeEvent.Type.DELETED) {
                request.leaseVanished();
            } else {
                watch(event.path());
            }
        });
    }
}
