package io.conclave.server;

import io.conclave.connection.LineLimit;
import io.conclave.connection.SessionLeases;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.TreeState;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Keeps a {@link SessionLease} for every session of the replicated state; where this member leads, it finds the
 * silent ones so. Leases come and go on the log's thread; touches come from everywhere.
 */
final class SessionTracker implements SessionLeases, StepListener {
    private static final Lease NO_SESSION = () -> false;

    /** In ten seconds: strangers leave as many sessions as they can open, and the log's thread writes each line. */
    static final int EXPIRY_LINES = 100;

    private final ReplicatedLog log;
    private final TimeSource time;
    private final LeaderTerm leaderTerm;
    private final HeartbeatBatcher heartbeats;
    private final LineLimit expiries;
    private final Map<Long, SessionLease> leases = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    SessionTracker(ReplicatedLog log, TimeSource time, LeaderTerm leaderTerm, HeartbeatBatcher heartbeats) {
        this.log = log;
        this.time = time;
        this.leaderTerm = leaderTerm;
        this.heartbeats = heartbeats;
        this.expiries = new LineLimit(time, EXPIRY_LINES);
    }

    @Override
    public void began(TreeState state) {
        for (Long known : List.copyOf(leases.keySet())) {
            if (state.session(known).isEmpty()) {
                end(known);
            }
        }
        for (Map.Entry<Long, SessionRecord> entry : state.sessions()) {
            lease(entry.getValue(), SessionLease::restored);
        }
    }

    /** This member leads from now on, and every session has a full timeout. On the log's thread. */
    void lead() {
        leases.values().forEach(SessionLease::lead);
    }

    /** This member does not lead any more. On the log's thread. */
    void follow() {
        leases.values().forEach(SessionLease::follow);
    }

    /** Another member has heard of these sessions. On the log's thread. */
    void heard(long[] sessionIds) {
        for (long id : sessionIds) {
            SessionLease lease = leases.get(id);
            if (lease != null) {
                lease.heard();
            }
        }
    }

    @Override
    public Lease of(long sessionId) {
        Lease lease = leases.get(sessionId);
        return lease == null ? NO_SESSION : lease;
    }

    @Override
    public boolean answersAtOnce() {
        return leaderTerm.isAlone();
    }

    @Override
    public void whenLeaderKnows(Runnable action) {
        heartbeats.whenConfirmed(action);
    }

    @Override
    public void whenLeaderKnowsSoon(Runnable action) {
        heartbeats.whenConfirmedSoon(action);
    }

    @Override
    public void applied(List<Step> steps) {
        boolean followed = leaderTerm.leads() && !leaderTerm.isAlone();
        for (Step step : steps) {
            if (followed && step.origin() == null && step.change() instanceof Change.Request request) {
                heardOf(request.sessionId(), step.applied().result());
            } else {
                applied(step, step.applied().result());
            }
        }
    }

    /** A request that came through another member is a heartbeat like any other. */
    private void heardOf(long sessionId, Result result) {
        SessionLease lease = leases.get(sessionId);
        if (lease != null
                && !(result instanceof Result.Failed failed && failed.error().isOfSession())) {
            lease.heard();
        }
    }

    private void applied(Step step, Result result) {
        if (result instanceof Result.SessionAttached attach) {
            lease(attach.session(), SessionLease::attached);
        } else if (result instanceof Result.SessionClosed closed) {
            end(closed.sessionId());
        } else if (result instanceof Result.SessionKept kept) {
            heard(new long[] {kept.sessionId()});
        } else if (step.origin() instanceof SessionLease.Suspicion suspicion) {
            if (result instanceof Result.SessionSuspected marked) {
                suspicion.applied(marked.suspicion());
            } else {
                suspicion.refused();
            }
        } else if (step.origin() instanceof SessionLease.Expiry expiry) {
            expiry.refused();
        }
    }

    private void lease(SessionRecord session, BiConsumer<SessionLease, SessionRecord> how) {
        SessionLease lease = leases.computeIfAbsent(
                session.id(), id -> new SessionLease(id, log, time, leaderTerm, heartbeats, expiries));
        how.accept(lease, session);
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

    /** Ends all leases; nothing is answered as a heartbeat from here on, and nothing expires. */
    void stop() {
        stopped = true;
        heartbeats.stop();
        leases.values().forEach(SessionLease::end);
    }

    /**
     * How many sessions a new leader gave their full timeout and has not heard of since. Where leaders change more
     * often than that, these are the sessions of the dead, which live on. Means something on the leader only; from any
     * thread.
     */
    long notHeardOf() {
        return leases.values().stream().filter(lease -> !lease.isHeardOf()).count();
    }

    /** How long each session has until it is found silent, in milliseconds, as far as this server knows. */
    SortedMap<Long, Long> remainingMs() {
        SortedMap<Long, Long> remaining = new TreeMap<>();
        leases.forEach((id, lease) -> remaining.put(id, lease.remainingMs()));
        return remaining;
    }
}
