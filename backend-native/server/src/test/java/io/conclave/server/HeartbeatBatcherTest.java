package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.connection.LineLimit;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** How many notes pings take, and how long each waits. */
class HeartbeatBatcherTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final List<Runnable> sent = new ArrayList<>(); // confirms the note
    private final List<Long> answered = new ArrayList<>(); // when
    private boolean refuses; // as a log that has no room
    private final HeartbeatBatcher batcher = batcher(Duration.ofMillis(500));

    private HeartbeatBatcher batcher(Duration delay) {
        return new HeartbeatBatcher(new SentNotes(), time, 1, () -> false, delay);
    }

    private void ping() {
        batcher.whenConfirmedSoon(() -> answered.add(millis()));
    }

    private long millis() {
        return time.monotonicNanos() / 1_000_000;
    }

    private void confirm() {
        sent.get(sent.size() - 1).run();
    }

    private void advance(int ms) {
        time.advance(Duration.ofMillis(ms));
    }

    @Test
    void onePingAfterAPauseDoesNotWait() {
        ping();
        assertEquals(1, sent.size());
        confirm();
        assertEquals(1, answered.size());
        advance(100);
        ping();
        assertEquals(2, sent.size());
    }

    @Test
    void pingsShortlyAfterANoteShareTheNextOne() {
        ping();
        confirm();
        for (int i = 0; i < 9; i++) {
            advance(10);
            ping();
        }
        assertEquals(1, sent.size());
        advance(10);
        assertEquals(2, sent.size());
        confirm();
        assertEquals(10, answered.size());
    }

    /** Notes do not follow each other without a pause because pings came while one was on its way. */
    @Test
    void pingsThatComeWhileANoteIsOnItsWayWaitForTheirTime() {
        ping();
        advance(5);
        ping();
        confirm();
        assertEquals(1, sent.size());
        assertEquals(1, answered.size());
        advance(95);
        assertEquals(2, sent.size());
    }

    /** Their timer fires in vain while the note is on its way. */
    @Test
    void pingsWhoseTimeCameWhileANoteWasOnItsWayGoWithTheNextOne() {
        ping();
        advance(5);
        ping();
        advance(500);
        assertEquals(1, sent.size());
        confirm();
        assertEquals(2, sent.size());
        confirm();
        assertEquals(2, answered.size());
    }

    @Test
    void whoTakesUpASessionDoesNotWaitForPings() {
        ping();
        confirm();
        advance(1);
        ping();
        batcher.whenConfirmed(() -> answered.add(millis()));
        assertEquals(2, sent.size());
        confirm();
        assertEquals(3, answered.size());
        advance(1000);
        assertEquals(2, sent.size(), "the ping's timer finds that it was answered");
    }

    @Test
    void whoTakesUpASessionWhileANoteIsOnItsWayHasTheNextOneAtOnce() {
        ping();
        batcher.whenConfirmed(() -> answered.add(millis()));
        assertEquals(1, sent.size());
        confirm();
        assertEquals(2, sent.size());
    }

    @Test
    void theShortestSessionTimeoutBoundsTheWait() {
        HeartbeatBatcher quick = batcher(Duration.ofMillis(5));
        quick.whenConfirmedSoon(() -> {});
        confirm();
        quick.whenConfirmedSoon(() -> {});
        assertEquals(1, sent.size());
        advance(5);
        assertEquals(2, sent.size());
    }

    /** The timer of the heartbeats runs already, and it is longer than the pause before a note is tried again. */
    @Test
    void aNoteThatTheLogRefusesIsTriedAgainSoonAlsoWhileHeartbeatsWait() {
        batcher.add(new SessionLease(
                1, new SentNotes(), time, new LeaderTerm(() -> false), batcher, new LineLimit(time, 1)));
        refuses = true;
        batcher.whenConfirmed(() -> answered.add(millis()));
        assertEquals(0, sent.size());
        advance(20);
        refuses = false;
        advance(20);
        assertEquals(1, sent.size());
        confirm();
        assertEquals(List.of(40L), answered);
    }

    private final class SentNotes implements ReplicatedLog {
        @Override
        public void start(StateMachine machine, LogListener listener) {}

        @Override
        public boolean propose(Proposal proposal) {
            throw new IllegalStateException("nothing is proposed here");
        }

        @Override
        public boolean readBarrier(Runnable action) {
            return true;
        }

        @Override
        public boolean readIndex(byte[] note, Runnable action) {
            if (refuses) {
                return false;
            }
            sent.add(action);
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
