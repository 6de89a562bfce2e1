package io.conclave.server;

import io.conclave.connection.SessionLeases;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.time.TimeSource;
import io.conclave.tree.Result;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps a {@link SessionLease} for every session of the replicated state, and so finds the silent ones. Leases come and
 * go on the log's thread; touches come from everywhere.
 */
final class SessionTracker implements SessionLeases, StepListener {
    private static final Lease NO_SESSION = () -> false;

    private final ReplicatedLog log;
    private final TimeSource time;
    private final Map<Long, SessionLease> leases = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    SessionTracker(ReplicatedLog log, TimeSource time) {
        this.log = log;
        this.time = time;
    }

    /** Everybody gets a full timeout from now: nobody could be heard while the server was down. */
    void begin(TreeState state) {
        for (Map.Entry<Long, SessionRecord> entry : state.sessions()) {
            attached(entry.getValue());
        }
    }

    @Override
    public Lease of(long sessionId) {
        Lease lease = leases.get(sessionId);
        return lease == null ? NO_SESSION : lease;
    }

    @Override
    public void applied(List<Step> steps) {
        for (Step step : steps) {
            Result result = step.applied().result();
            if (result instanceof Result.SessionAttached attach) {
                attached(attach.session());
            } else if (result instanceof Result.SessionClosed closed) {
                end(closed.sessionId());
            } else if (step.origin() instanceof SessionLease.Expiry expiry) {
                expiry.refused();
            }
        }
    }

    private void attached(SessionRecord session) {
        SessionLease lease = leases.computeIfAbsent(session.id(), id -> new SessionLease(id, log, time));
        lease.attached(session);
        if (stopped) {
            lease.end();
        }
    }

    private void end(long sessionId) {
        SessionLease lease = leases.remove(sessionId);
        if (lease != null) {
            lease.end();
        }
    }

    /** Ends all leases; nothing is answered as a sign of life from here on, and nothing expires. */
    void stop() {
        stopped = true;
        leases.values().forEach(SessionLease::end);
    }

    int size() {
        return leases.size();
    }
}
