package io.conclave.server;

import io.conclave.connection.SessionLeases;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.ChangeProposal;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionRecord;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a session was last heard of, and the proposal of its end when that was too long ago.
 *
 * <pre>
 *   LIVE --silent for its timeout--&gt; EXPIRING --applied--&gt; ENDED
 *     ^                                  |
 *     +------- the proposal failed ------+
 * </pre>
 *
 * <p>Hearing and expiring meet in one atomic number, so whichever comes first wins: a client that was answered is not
 * expired before its timeout has passed again, and one whose end is proposed is not answered.
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

    private final long sessionId;
    private final ReplicatedLog log;
    private final TimeSource time;
    /** The monotonic time, or one of the two marks. */
    private final AtomicLong heardNanos;

    private volatile long timeoutNanos;
    private volatile long attachment;
    // @GuardedBy("this")
    private TimeSource.@Nullable Timer timer;
    // @GuardedBy("this")
    private long dueNanos;

    SessionLease(long sessionId, ReplicatedLog log, TimeSource time) {
        this.sessionId = sessionId;
        this.log = log;
        this.time = time;
        this.heardNanos = new AtomicLong(time.monotonicNanos());
    }

    /** The session was opened or taken up. */
    void attached(SessionRecord session) {
        timeoutNanos = Duration.ofMillis(session.timeoutMs()).toNanos();
        // the touch first: who reads the new attachment must find the session heard of
        touch();
        attachment = session.attachment();
        checkAfter(timeoutNanos);
    }

    @Override
    public boolean touch() {
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

    private static boolean isMark(long heard) {
        return heard == EXPIRING || heard == ENDED;
    }

    private synchronized void checkAfter(long delayNanos) {
        TimeSource.Timer before = timer;
        if (before != null) {
            before.cancel();
        }
        if (heardNanos.get() != ENDED) {
            dueNanos = time.monotonicNanos() + delayNanos;
            timer = time.schedule(Duration.ofNanos(delayNanos), this::check);
        }
    }

    private synchronized long latenessNanos() {
        return time.monotonicNanos() - dueNanos;
    }

    private void check() {
        // read before the time: whoever attaches from here on is either seen in the time, or is not the one closed
        long silent = attachment;
        long heard = heardNanos.get();
        if (isMark(heard)) {
            return;
        }
        long leftNanos = timeoutNanos - (time.monotonicNanos() - heard);
        if (leftNanos > 0) {
            checkAfter(leftNanos);
        } else if (latenessNanos() > LATE_NANOS) {
            checkAfter(LATE_NANOS);
        } else if (heardNanos.compareAndSet(heard, EXPIRING)) {
            expire(silent);
        } else {
            checkAfter(timeoutNanos);
        }
    }

    private void expire(long silent) {
        LOG.info(
                "Session 0x{} has not been heard of for {} ms: expiring it",
                Long.toHexString(sessionId),
                Duration.ofNanos(timeoutNanos).toMillis());
        if (!log.propose(new Expiry(new Change.CloseSession(sessionId, silent, Change.CloseReason.OPERATOR)))) {
            revive();
        }
    }

    /**
     * The end was certainly not applied. The session gets a full timeout: a client may have taken it up meanwhile, and was
     * told so; from that moment it counts on its whole timeout.
     */
    private void revive() {
        if (heardNanos.compareAndSet(EXPIRING, time.monotonicNanos())) {
            checkAfter(timeoutNanos);
        }
    }

    /** The session is gone. */
    synchronized void end() {
        heardNanos.set(ENDED);
        TimeSource.Timer pending = timer;
        if (pending != null) {
            pending.cancel();
            timer = null;
        }
    }

    /** The proposal of the session's end. */
    final class Expiry extends ChangeProposal {
        Expiry(Change change) {
            super(change);
        }

        /** It was applied and refused: the session has moved since. */
        void refused() {
            revive();
        }

        @Override
        public void rejected(Rejection reason) {
            revive();
        }
    }
}
