package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionTrackerTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final ScriptedLog log = new ScriptedLog();
    private final LeaderTerm leaderTerm = new LeaderTerm(() -> true);
    private final SessionTracker tracker = new SessionTracker(
            log, time, leaderTerm, new HeartbeatBatcher(log, time, 2, () -> false, Duration.ofMillis(100)));

    @AfterEach
    void close() {
        tracker.stop();
        log.close();
    }

    private static TreeState threeSessions() {
        TreeState state = TreeState.initial(new UUID(1, 2), 0);
        for (int id = 1; id <= 3; id++) {
            SessionPassword password = SessionPassword.of(new byte[SessionPassword.BYTES]);
            state = Tree.apply(state, new Change.OpenSession(id, password, 5_000), 1)
                    .state();
        }
        return state;
    }

    @Test
    void aNewLeaderCountsTheSessionsThatItHasNotHeardOf() {
        tracker.began(threeSessions());
        tracker.heard(new long[] {1});
        leaderTerm.lead(4);
        tracker.lead();
        assertEquals(3, tracker.notHeardOf());
        tracker.heard(new long[] {2, 3});
        assertEquals(1, tracker.notHeardOf());
    }

    /** A server that starts leads before it serves, and gets to know the sessions only then. */
    @Test
    void aLeaderThatHasJustStartedHasNotHeardOfTheSessionsThatItRestores() {
        leaderTerm.lead(4);
        tracker.lead();
        tracker.began(threeSessions());
        assertEquals(3, tracker.notHeardOf());
        tracker.heard(new long[] {2});
        assertEquals(2, tracker.notHeardOf());
    }
}
