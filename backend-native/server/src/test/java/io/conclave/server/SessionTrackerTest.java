package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SessionTrackerTest {
    @Test
    void aNewLeaderCountsTheSessionsThatItHasNotHeardOf() {
        ManualTimeSource time = new ManualTimeSource();
        ScriptedLog log = new ScriptedLog();
        LeaderTerm leaderTerm = new LeaderTerm(() -> true);
        HeartbeatBatcher heartbeats = new HeartbeatBatcher(log, time, 2, () -> false, Duration.ofMillis(100));
        SessionTracker tracker = new SessionTracker(log, time, leaderTerm, heartbeats);
        TreeState state = TreeState.initial(new UUID(1, 2), 0);
        for (int id = 1; id <= 3; id++) {
            SessionPassword password = SessionPassword.of(new byte[SessionPassword.BYTES]);
            state = Tree.apply(state, new Change.OpenSession(id, password, 5_000), 1)
                    .state();
        }
        tracker.began(state);
        assertEquals(0, tracker.notHeardOf());
        leaderTerm.lead(4);
        tracker.lead();
        assertEquals(3, tracker.notHeardOf());
        tracker.heard(new long[] {2, 3});
        assertEquals(1, tracker.notHeardOf());
        tracker.stop();
        log.close();
    }
}
