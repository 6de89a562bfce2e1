package io.conclave.locks;

import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.line.RevocationWord;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.spi.GetData;
import io.conclave.spi.Watcher;

/**
 * Watches the leases of a holder: tells when one is not there any more, and when somebody asks for one by the word in its znode.
 *
 * <p>State belongs to the dispatcher.
 */
final class LeaseWatch {
    private final PermitTenant tenant;
    private final Watcher watcher = this::onEvent;

    LeaseWatch(PermitTenant tenant) {
        this.tenant = tenant;
    }

    /** Watches all of them. A deletion before the watch is set is reported by the answer, one after it by the event. */
    void watch(PermitTenant.Leases leases) {
        leases.paths().forEach(this::watch);
    }

    private void watch(NodePath lease) {
        tenant.send(GetData.of(lease).withWatcher(watcher), this::onRead, cause -> {
            if (cause instanceof OutcomeUnknownException && tenant.isHeld()) {
                watch(lease);
            } else if (Refusals.isNoNode(cause)) {
                tenant.leaseVanished();
            } else if (!(cause instanceof OutcomeUnknownException)) {
                tenant.fail(cause);
            }
        });
    }

    private void onRead(GetData.NodeData node) {
        if (!tenant.isHeld()) {
            return;
        }
        if (node.stat().czxid() != tenant.leases().czxid()
                || node.stat().ephemeralOwner() != tenant.session().id()) {
            tenant.leaseVanished(); // somebody else's of the same name
        } else if (node.stat().version() > 0 && RevocationWord.isIn(node.data())) {
            tenant.askedToGiveUp();
        }
    }

    private void onEvent(NodeEvent event) {
        tenant.guarded(() -> {
            if (!tenant.isHeld()) {
                return;
            }
            if (event.type() == NodeEvent.Type.DELETED) {
                tenant.leaseVanished();
            } else {
                watch(event.path());
            }
        });
    }
}
