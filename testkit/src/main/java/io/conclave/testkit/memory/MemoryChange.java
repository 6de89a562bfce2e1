package io.conclave.testkit.memory;

import io.conclave.node.Acl;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** One numbered change while it is applied: its requester, what it has caused, and how to take it back. */
final class MemoryChange {
    final long zxid;
    final long timeMs;
    final Caller caller;
    final List<Cause> causes = new ArrayList<>();
    private final List<Runnable> undo = new ArrayList<>();

    /**
     * The requester.
     *
     * @param sessionId owns the ephemeral znodes
     * @param identities proven by the session
     * @param defaultAcl for creates that name none
     */
    record Caller(long sessionId, Set<ProvenIdentity> identities, Acl defaultAcl) {}

    /**
     * An event that watches may report.
     *
     * @param event what happened
     * @param acl of the znode concerned: a session that may not read it gets no event
     */
    record Cause(NodeEvent event, Acl acl) {}

    MemoryChange(long zxid, long timeMs, Caller caller) {
        this.zxid = zxid;
        this.timeMs = timeMs;
        this.caller = caller;
    }

    void cause(NodeEvent.Type type, NodePath path, Acl acl) {
        causes.add(new Cause(new NodeEvent(type, path, zxid), acl));
    }

    void onUndo(Runnable step) {
        undo.add(step);
    }

    void rollBack() {
        for (int i = undo.size() - 1; i >= 0; i--) {
            undo.get(i).run();
        }
        undo.clear();
        causes.clear();
    }
}
