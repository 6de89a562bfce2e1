package io.conclave.server;

import io.conclave.connection.LineLimit;
import io.conclave.connection.SessionLeases;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.ChangeProposal;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionRecord;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a session was last heard of, as the leader keeps it, and the proposals of its end when that was too long ago. On
 * other members it only gathers heartbeats for the leader.
 *
 * <pre>
 *   LIVE --silent for its timeout: SuspectSession proposed, applied; silent still--&gt; EXPIRING --applied--&gt; ENDED
 *     ^                                                                                  |
 *     +------------------- refused, rejected, or this member leads no more --------------+
 * </pre>
 *
 * <p>Why two steps: a client on another member is answered without this lease being asked. It is answered either when a
 * note of that member has reached the leader, or by a change in the log. A note that comes before SuspectSession is
 * applied here is seen when that is applied; for one that comes later, the other member sees the mark and answers by a
 * change in the log, behind the mark; and a change behind the mark has ExpireSession refused. So a client that was
 * answered is not expired before its timeout has passed again.
 *
 * <p>For clients of the leader itself, hearing and expiring meet in one atomic number as well, so that a server by
 * itself may answer at once. In an ensemble a leader tells itself in a note like any other member, since the note may
 * find another leader.
 */
final class SessionLease implements SessionLeases.Lease {
    private static final Logger LOG = LoggerFactory.getLogger(SessionLease.class);
    private static final long EXPIRING = Long.MIN_VALUE;
    private static final long ENDED = Long.MIN_VALUE + 1;
    /**
     * A check that comes later than this has slept with the whole process; what clients sent meanwhile must be read
     * before anybody is called silent.
     */
    private static final long LATE_NANOS = Duration.ofMillis(500).toNanos();

    /** Where checks are late every time, they have to be believed in the end. */
    private static final int MAX_LATE_CHECKS = 10;

    private final long sessionId;
    private final ReplicatedLog log;
    private final TimeSource time;
    private final LeaderTerm leaderTerm;
    private final HeartbeatBatcher heartbeats;
    private final LineLimit expiries;
    /** The monotonic time, or one of the two marks. */
    private final AtomicLong heardNanos;
    /** Whether it stands in a note that is still to be sent. */
    private final AtomicBoolean entered = new AtomicBoolean();

    /** Since this member leads, if it does. */
    private volatile boolean heardOf;

    private volatile long timeoutNanos;
    private volatile long attachment;
    // @GuardedBy("this")
    private TimeSource.@Nullable Timer timer;
    // @GuardedBy("this")
    private long dueNanos;
    /** One behind the other. Checks come one at a time. */
    private volatile int lateChecks;

    /**
     * Heard of just now.
     *
     * @param expiries the lines of all sessions that expire
     */
    SessionLease(
            long sessionId,
            ReplicatedLog log,
            TimeSource time,
            LeaderTerm leaderTerm,
            HeartbeatBatcher heartbeats,
            LineLimit expiries) {
        this.sessionId = sessionId;
        this.log = log;
        this.time = time;
        this.leaderTerm = leaderTerm;
        this.heartbeats = heartbeats;
        this.expiries = expiries;
        this.heardNanos = new AtomicLong(time.monotonicNanos());
    }

    long sessionId() {
        return sessionId;
    }

    /** The session was opened or taken up. */
    void attached(SessionRecord session) {
        heardOf = true;
        restored(session);
    }

    /** The session stands in a state that has just been read: it gets a full timeout, though nobody has heard of it. */
    void restored(SessionRecord session) {
        timeoutNanos = Duration.ofMillis(session.timeoutMs()).toNanos();
        // the touch first: a reader of the new attachment must find the session heard of
        touched();
        attachment = session.attachment();
        if (leaderTerm.leads()) {
            checkAfter(timeoutNanos);
        }
    }

    /** This member leads from now on: it is not known when the session was last heard of, so it gets a full timeout. */
    void lead() {
        heardOf = false;
        heardAnew();
        checkAfter(timeoutNanos);
    }

    /** Another member leads: what was heard lately is for that one to know. */
    void follow() {
        cancelTimer();
        long heard = heardNanos.get();
        heardAnew();
        if (heard == EXPIRING || (heard != ENDED && time.monotonicNanos() - heard < timeoutNanos)) {
            enter();
        }
    }

    private void heardAnew() {
        heardNanos.updateAndGet(heard -> heard == ENDED ? ENDED : time.monotonicNanos());
    }

    @Override
    public boolean touch() {
        if (!leaderTerm.isAlone()) {
            // Where this member leads, too: it may have been deposed and not know it yet, and then the note that the
            // answer waits for goes to a leader that gave every session its timeout before this.
            enter();
        }
        return leaderTerm.leads() ? heard() : heardNanos.get() != ENDED;
    }

    private void enter() {
        if (!entered.get() && entered.compareAndSet(false, true)) {
            heartbeats.add(this);
        }
    }

    /** A note takes it along: the next heartbeat is for the next note. */
    void entered() {
        entered.set(false);
    }

    /** How long until it is found silent if nothing more is heard of it here; 0 if that time is over. */
    long remainingMs() {
        long heard = heardNanos.get();
        long leftNanos = isMark(heard) ? 0 : timeoutNanos - (time.monotonicNanos() - heard);
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(leftNanos));
    }

    /** It has been heard of; false if its end is proposed or has come. */
    boolean heard() {
        if (!heardOf) {
            heardOf = true;
        }
        return touched();
    }

    private boolean touched() {
        long now = time.monotonicNanos();
        while (true) {
            long heard = heardNanos.get();
            if (isMark(heard)) {
                return false;
            }
            if (now - heard <= 0 || heardNanos.compareAndSet(heard, now)) {
                return true;
            }
        }
    }

    /** Whether anybody has heard of it since this member leads. */
    boolean isHeardOf() {
        return heardOf;
    }

    private static boolean isMark(long heard) {
        return heard == EXPIRING || heard == ENDED;
    }

    private synchronized void checkAfter(long delayNanos) {
        cancelTimer();
        if (heardNanos.get() != ENDED && leaderTerm.leads()) {
            dueNanos = time.monotonicNanos() + delayNanos;
            timer = time.schedule(Duration.ofNanos(delayNanos), this::check);
        }
    }

    private synchronized void cancelTimer() {
        TimeSource.Timer pending = timer;
        if (pending != null) {
            pending.cancel();
            timer = null;
        }
    }

    private synchronized long latenessNanos() {
        return time.monotonicNanos() - dueNanos;
    }

    private void check() {
        // read before the time: a session that is attached from here on is either seen in the time, or is not the one
        // closed
        long silent = attachment;
        long heard = heardNanos.get();
        if (isMark(heard) || !leaderTerm.leads()) {
            return;
        }
        long leftNanos = timeoutNanos - (time.monotonicNanos() - heard);
        if (leftNanos > 0) {
            lateChecks = 0;
            checkAfter(leftNanos);
        } else if (isTooLate() || !log.propose(new Suspicion(silent))) {
            checkAfter(LATE_NANOS);
        }
    }

    private boolean isTooLate() {
        lateChecks = latenessNanos() > LATE_NANOS ? lateChecks + 1 : 0;
        return lateChecks > 0 && lateChecks <= MAX_LATE_CHECKS;
    }

    /** The mark is in the replicated state, in the middle of the log's present batch. On the log's thread. */
    private void suspected(long suspicion) {
        long heard = heardNanos.get();
        if (isMark(heard) || !leaderTerm.leads()) {
            return;
        }
        long leftNanos = timeoutNanos - (time.monotonicNanos() - heard);
        if (leftNanos > 0) {
            checkAfter(leftNanos);
        } else if (heardNanos.compareAndSet(heard, EXPIRING)) {
            expire(suspicion);
        } else {
            checkAfter(timeoutNanos);
        }
    }

    private void expire(long suspicion) {
        expiries.next().ifPresent(this::logExpiry);
        if (!log.propose(new Expiry(new Change.ExpireSession(sessionId, suspicion, leaderTerm.term())))) {
            revive();
        }
    }

    private void logExpiry(long unlogged) {
        LOG.info(
                "Session 0x{} has not been heard of for {} ms: expiring it{}",
                Long.toHexString(sessionId),
                Duration.ofNanos(timeoutNanos).toMillis(),
                unlogged == 0 ? "" : "; so were " + unlogged + " others since the last such line, which had none");
    }

    /**
     * The end was certainly not applied. The session gets a full timeout: a client may have taken it up meanwhile, and
     * was told so; from that moment it counts on its whole timeout.
     */
    private void revive() {
        if (heardNanos.compareAndSet(EXPIRING, time.monotonicNanos())) {
            checkAfter(timeoutNanos);
        }
    }

    /** The session is gone. */
    void end() {
        heardNanos.set(ENDED);
        cancelTimer();
    }

    /** The proposal of the session's mark. */
    final class Suspicion extends ChangeProposal {
        private Suspicion(long silent) {
            super(new Change.SuspectSession(sessionId, silent, leaderTerm.termInChanges()));
        }

        void applied(long suspicion) {
            suspected(suspicion);
        }

        /** The session has moved since, and was heard of then. */
        void refused() {
            checkAfter(timeoutNanos);
        }

        @Override
        public void rejected(Rejection reason) {
            checkAfter(LATE_NANOS);
        }

        @Override
        public void outcomeUnknown() {
            checkAfter(LATE_NANOS);
        }
    }

    /** The proposal of the session's end. */
    final class Expiry extends ChangeProposal {
        private Expiry(Change change) {
            super(change);
        }

        /** It was applied and refused: the session has been heard of since, or another term has begun. */
        void refused() {
            revive();
        }

        @Override
        public void rejected(Rejection reason) {
            revive();
        }

        @Override
        public void outcomeUnknown() {
            revive();
        }
    }
}
