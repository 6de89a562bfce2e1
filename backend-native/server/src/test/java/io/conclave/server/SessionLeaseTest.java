package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.LineLimit;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.replica.ChangeProposal;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.SessionRecord;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionLeaseTest {
    private static final long SESSION = 7;
    private static final long TERM = 3;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTimeSource time = new ManualTimeSource();
    private final List<Proposal> proposed = new ArrayList<>();
    private final List<byte[]> notes = new ArrayList<>();
    private boolean termsUnderstood = true;
    private final LeaderTerm leaderTerm = new LeaderTerm(() -> termsUnderstood);
    private HeartbeatBatcher heartbeats;
    private final SessionLease lease = lease(time);

    private SessionLease lease(TimeSource clock) {
        RecordingLog log = new RecordingLog();
        heartbeats = new HeartbeatBatcher(log, clock, 1, () -> false, Duration.ofMillis(100));
        return new SessionLease(SESSION, log, clock, leaderTerm, heartbeats, new LineLimit(clock, 1));
    }

    @BeforeEach
    void attach() {
        leaderTerm.lead(TERM);
        lease.attached(session());
    }

    private void markIsApplied(int index) {
        ((SessionLease.Suspicion) proposed.get(index)).applied(100 + index);
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
    void silentSessionIsMarkedAndThenExpiredAndNotAnsweredAnyMore() {
        time.advance(TIMEOUT.minusMillis(1));
        assertTrue(proposed.isEmpty());
        time.advance(Duration.ofMillis(2));
        assertEquals(new Change.SuspectSession(SESSION, session().attachment(), leaderTerm.term()), changeOf(0));
        markIsApplied(0);
        assertEquals(new Change.ExpireSession(SESSION, 100, TERM), changeOf(1));
        assertFalse(lease.touch(), "an answered client relies on its session");
        assertEquals(2, proposed.size());
    }

    private Change changeOf(int index) {
        return ((ChangeProposal) proposed.get(index)).change();
    }

    @Test
    void sessionIsExpiredAlsoWhereEveryCheckIsLate() {
        List<Runnable> due = new ArrayList<>();
        ManualTimeSource slow = new ManualTimeSource(due::add);
        lease(slow).attached(session());
        slow.advance(TIMEOUT);
        for (int i = 0; i < 10; i++) {
            slow.advance(Duration.ofSeconds(2));
            due.remove(due.size() - 1).run();
            assertTrue(proposed.isEmpty(), "a pause of this server is not the client's silence");
        }
        slow.advance(Duration.ofSeconds(2));
        due.remove(due.size() - 1).run();
        assertEquals(1, proposed.size());
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
    void sessionHeardOfBeforeItsMarkIsAppliedIsNotExpired() {
        time.advance(TIMEOUT.plusMillis(1));
        assertTrue(lease.touch());
        markIsApplied(0);
        assertEquals(1, proposed.size());
        time.advance(TIMEOUT.plusMillis(1));
        assertEquals(2, proposed.size());
        assertTrue(changeOf(1) instanceof Change.SuspectSession, "it all begins again");
    }

    @Test
    void sessionTakenUpWhileItsEndWasProposedHasAFullTimeout() {
        time.advance(TIMEOUT.plusMillis(1));
        markIsApplied(0);
        lease.attached(session()); // the log had the resume before the end
        ((SessionLease.Expiry) proposed.get(1)).refused();
        time.advance(TIMEOUT.minusMillis(1));
        assertEquals(2, proposed.size(), "the client was granted a whole timeout");
        time.advance(Duration.ofMillis(2));
        assertEquals(3, proposed.size());
    }

    /** The check runs in the middle of the attach, which has not been heard of in the session's time yet. */
    @Test
    void endFoundWhileTheSessionIsTakenUpIsThatOfTheOlderConnection() {
        List<Runnable> due = new ArrayList<>();
        HookedTime hooked = new HookedTime(new ManualTimeSource(due::add));
        SessionLease taken = lease(hooked);
        SessionRecord before = session();
        taken.attached(before);
        hooked.time.advance(TIMEOUT.plusMillis(1));
        hooked.beforeReading = () -> due.get(0).run();
        taken.attached(new SessionRecord(
                SESSION, before.password(), before.timeoutMs(), before.attachment() + 1, 0, before.ephemerals()));
        assertEquals(new Change.SuspectSession(SESSION, before.attachment(), leaderTerm.term()), changeOf(0));
    }

    @Test
    void endThatTheLogDidNotTakeIsProposedAgain() {
        time.advance(TIMEOUT.plusMillis(1));
        markIsApplied(0);
        ((SessionLease.Expiry) proposed.get(1)).rejected(Rejection.DISK_FULL);
        assertTrue(lease.touch());
        time.advance(TIMEOUT.plusMillis(1));
        markIsApplied(2);
        assertEquals(4, proposed.size());
    }

    @Test
    void markThatTheLogDidNotTakeIsProposedAgain() {
        time.advance(TIMEOUT.plusMillis(1));
        ((SessionLease.Suspicion) proposed.get(0)).rejected(Rejection.DISK_FULL);
        time.advance(Duration.ofSeconds(1));
        assertEquals(2, proposed.size());
    }

    @Test
    void aFollowerExpiresNoSessionAndReportsHeartbeatsToTheLeader() {
        leaderTerm.end();
        lease.follow();
        time.advance(TIMEOUT.multipliedBy(2));
        assertTrue(proposed.isEmpty());
        notes.clear();
        assertTrue(lease.touch());
        assertTrue(lease.touch());
        time.advance(Duration.ofMillis(100));
        assertEquals(1, notes.size());
        assertEquals(List.of(SESSION), sessionsIn(notes.get(0)));
        assertTrue(lease.touch());
        time.advance(Duration.ofMillis(100));
        assertEquals(2, notes.size());
    }

    private static List<Long> sessionsIn(byte[] note) {
        return Arrays.stream(HeartbeatNote.decode(note).sessionIds()).boxed().toList();
    }

    @Test
    void newLeaderGivesEverybodyAFullTimeout() {
        leaderTerm.end();
        lease.follow();
        time.advance(TIMEOUT.multipliedBy(3));
        leaderTerm.lead(TERM + 1);
        lease.lead();
        time.advance(TIMEOUT.minusMillis(1));
        assertTrue(proposed.isEmpty());
        time.advance(Duration.ofMillis(2));
        assertEquals(1, proposed.size());
    }

    /** Then another one leads, which gave the session its full timeout before the ping came, and gets the note. */
    @Test
    void noteThatAPingOnTheLeaderWaitsForNamesItsSessionInCaseThisOneIsDeposedAlready() {
        notes.clear();
        assertTrue(lease.touch());
        heartbeats.whenConfirmed(() -> {});
        assertEquals(List.of(SESSION), sessionsIn(notes.get(0)));
    }

    @Test
    void deposedLeaderReportsRecentHeartbeatsToTheNextLeader() {
        time.advance(TIMEOUT.plusMillis(1));
        markIsApplied(0);
        leaderTerm.end();
        lease.follow();
        assertTrue(lease.touch(), "its end may not come: the log decides");
        time.advance(Duration.ofMillis(100));
        assertEquals(List.of(SESSION), sessionsIn(notes.get(0)));
        ((SessionLease.Expiry) proposed.get(1)).refused();
        time.advance(TIMEOUT.multipliedBy(2));
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
        public boolean readIndex(byte[] note, Runnable action) {
            notes.add(note);
            action.run();
            return true;
        }

        @Override
        public void tell(int member, byte[] note) {}

        @Override
        public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
            return CompletableFuture.completedStage(knownIndex);
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
