package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.TreeState;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FeatureLevelsTest {
    private final List<Proposal> proposed = new ArrayList<>();
    private boolean takes = true;
    private final ReplicatedLog log = (ReplicatedLog) Proxy.newProxyInstance(
            ReplicatedLog.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                if (takes && method.getName().equals("propose")) {
                    proposed.add((Proposal) arguments[0]);
                }
                return takes;
            });

    private FeatureLevels levels() {
        LeaderTerm leaderTerm = new LeaderTerm(() -> false);
        leaderTerm.lead(1);
        ManualTimeSource time = new ManualTimeSource();
        HeartbeatBatcher heartbeats = new HeartbeatBatcher(log, time, 1, () -> true, Duration.ofMillis(100));
        TreeState state = TreeState.initial(new UUID(1, 2), 0);
        return new FeatureLevels(1, 1, log, () -> state, leaderTerm, heartbeats, time);
    }

    private static ClusterConfiguration two() {
        Map<Integer, EnsembleMember> members = Map.of(
                1, new EnsembleMember(1, 1, "a", 1, "", 0, false),
                2, new EnsembleMember(2, 2, "b", 1, "", 0, false));
        return new ClusterConfiguration(members, Set.of(1, 2), Set.of());
    }

    @Test
    void aLevelThatTheLogHadNoRoomForIsProposedAgainAtTheNextNote() {
        FeatureLevels levels = levels();
        levels.lead(two());
        levels.noted(2, 1);
        assertEquals(1, proposed.size());
        levels.noted(2, 1);
        assertEquals(1, proposed.size(), "it is under way");
        proposed.get(0).rejected(Rejection.DISK_FULL);
        levels.noted(2, 1);
        assertEquals(2, proposed.size());
        proposed.get(1).rejected(Rejection.DISK_FULL);
        takes = false;
        levels.noted(2, 1);
        takes = true;
        levels.noted(2, 1);
        assertEquals(3, proposed.size());
    }
}
