package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionLeaseTest {
    private static final long SESSION = 7;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTimeSource time = new ManualTimeSource();
    private final List<Proposal> proposed = new ArrayList<>();
    private final SessionLease lease = new SessionLease(SESSION, new RecordingLog(), time);

    @BeforeEach
    void attach() {
        lease.attached(session());
    }

    private static SessionRecord session() {
        TreeState state = TreeState.initial(new UUID(1, 2), 1);
        SessionPassword password = SessionPassword.of(new byte[SessionPassword.BYTES]);
        return Tree.apply(state, new Change.OpenSession(SESSION, password, (int) TIMEOUT.toMillis()), 1)
                .state()
                .session(SESSION)
                .orElseThrow();
    }

    @Test
    void silentSessionIsExpiredAfterItsTimeoutAndNotAnsweredAnyMore() {
        time.advance(TIMEOUT.minusMillis(1));
        assertTrue(proposed.isEmpty());
        time.advance(Duration.ofMillis(2));
        assertEquals(1, proposed.size());
        assertFalse(lease.touch(), "whoever is answered counts on his session");
    }

    @Test
    void touchPostponesTheEndByAFullTimeout() {
        time.advance(Duration.ofSeconds(6));
        assertTrue(lease.touch());
        time.advance(TIMEOUT.minusMillis(1));
        assertTrue(proposed.isEmpty());
        time.advance(Duration.ofMillis(2));
        assertEquals(1, proposed.size());
    }

    @Test
    void sessionTakenUpWhileItsEndWasProposedHasAFullTimeout() {
        time.advance(TIMEOUT.plusMillis(1));
        SessionLease.Expiry expiry = (SessionLease.Expiry) proposed.get(0);
        lease.attached(session()); // the log had the resume before the end
        expiry.refused();
        time.advance(TIMEOUT.minusMillis(1));
        assertEquals(1, proposed.size(), "the client was told of a whole timeout");
        time.advance(Duration.ofMillis(2));
        assertEquals(2, proposed.size());
    }

    /** The check runs in the middle of the attach, which has not been heard of in the session's time yet. */
    @Test
    void endFoundWhileTheSessionIsTakenUpIsThatOfTheOlderConnection() {
        List<Runnable> due = new ArrayList<>();
        HookedTime hooked = new HookedTime(new ManualTimeSource(due::add));
        SessionLease taken = new SessionLease(SESSION, new RecordingLog(), hooked);
        SessionRecord before = session();
        taken.attached(before);
        hooked.time.advance(TIMEOUT.plusMillis(1));
        hooked.beforeReading = () -> due.get(0).run();
        taken.attached(new SessionRecord(
                SESSION, before.password(), before.timeoutMs(), before.attachment() + 1, 0, before.ephemerals()));
        SessionLease.Expiry expiry = (SessionLease.Expiry) proposed.get(0);
        assertEquals(
                new Change.CloseSession(SESSION, before.attachment(), Change.CloseReason.OPERATOR), expiry.change());
    }

    @Test
    void endThatTheLogDidNotTakeIsProposedAgain() {
        time.advance(TIMEOUT.plusMillis(1));
        ((SessionLease.Expiry) proposed.get(0)).rejected(Rejection.DISK_FULL);
        assertTrue(lease.touch());
        time.advance(TIMEOUT.plusMillis(1));
        assertEquals(2, proposed.size());
    }

    /** Does something once, right before the clock is read. */
    private static final class HookedTime implements TimeSource {
        final ManualTimeSource time;
        Runnable beforeReading = () -> {};

        HookedTime(ManualTimeSource time) {
            this.time = time;
        }

        @Override
        public long monotonicNanos() {
            Runnable once = beforeReading;
            beforeReading = () -> {};
            once.run();
            return time.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return time.schedule(delay, task);
        }
    }

    private final class RecordingLog implements ReplicatedLog {
        @Override
        public void start(StateMachine machine, LogListener listener) {}

        @Override
        public boolean propose(Proposal proposal) {
            proposed.add(proposal);
            return true;
        }

        @Override
        public boolean readBarrier(Runnable action) {
            return true;
        }

        @Override
        public boolean confirm(byte[] note, Runnable action) {
            return true;
        }

        @Override
        public CompletionStage<Void> change(MembershipChange change) {
            return CompletableFuture.completedStage(null);
        }

        @Override
        public CompletionStage<Void> transferLeadership(int member) {
            return CompletableFuture.completedStage(null);
        }

        @Override
        public LogStatus status() {
            throw new IllegalStateException("not asked for here");
        }

        @Override
        public void close() {}
    }
}
