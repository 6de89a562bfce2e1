package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.FeatureLevelService;
import io.conclave.consensus.DiskState;
import io.conclave.consensus.LeaderStatus;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FeatureLevelsTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration BETWEEN_NOTES = Duration.ofSeconds(20);
    private static final int OWN = 2;

    private final List<Proposal> proposed = new ArrayList<>();
    private final ManualTimeSource time = new ManualTimeSource();
    private final LeaderTerm leaderTerm = new LeaderTerm(() -> false);
    private boolean takes = true;
    private TreeState state = TreeState.initial(new UUID(1, 2), 0);

    private final ReplicatedLog log = (ReplicatedLog) Proxy.newProxyInstance(
            ReplicatedLog.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "propose":
                        return takes && proposed.add((Proposal) arguments[0]);
                    case "readBarrier":
                        ((Runnable) arguments[0]).run();
                        return true;
                    case "status":
                        return status();
                    default:
                        return takes;
                }
            });

    private static LogStatus status() {
        return new LogStatus(
                1,
                LogRole.FOLLOWING,
                3,
                1,
                0,
                0,
                0,
                two(),
                0,
                new UUID(1, 2),
                DiskState.ROOM,
                false,
                0,
                "",
                LeaderStatus.NONE);
    }

    private FeatureLevels levels(Optional<Duration> delay) {
        leaderTerm.lead(1);
        HeartbeatBatcher heartbeats = new HeartbeatBatcher(log, time, OWN, () -> true, Duration.ofMillis(100));
        return new FeatureLevels(OWN, 1, delay, log, () -> state, leaderTerm, heartbeats, time);
    }

    private static ClusterConfiguration two() {
        Map<Integer, EnsembleMember> members = Map.of(
                1, new EnsembleMember(1, 1, "a", 1, "", 0, false),
                2, new EnsembleMember(2, 2, "b", 1, "", 0, false));
        return new ClusterConfiguration(members, Set.of(1, 2), Set.of());
    }

    /** The cluster is not new: a level is in force. */
    private void inForce(int level) {
        state = Tree.apply(state, new Change.RaiseFeatureLevel(level), 1).state();
    }

    private void passWithNotes(FeatureLevels levels, Duration span) {
        for (Duration left = span; !left.isZero(); ) {
            Duration step = left.compareTo(BETWEEN_NOTES) < 0 ? left : BETWEEN_NOTES;
            time.advance(step);
            levels.noted(2, OWN);
            left = left.minus(step);
        }
    }

    private List<Integer> proposedLevels() {
        return proposed.stream()
                .map(proposal -> ByteBuffer.wrap(proposal.payload()).getInt())
                .toList();
    }

    @Test
    void aLevelThatTheLogHadNoRoomForIsProposedAgainAtTheNextNote() {
        FeatureLevels levels = levels(Optional.empty());
        levels.lead(two());
        levels.noted(2, 1);
        assertEquals(List.of(1), proposedLevels());
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

    @Test
    void aNewClusterDoesNotWait() {
        FeatureLevels levels = levels(Optional.of(DAY));
        levels.lead(two());
        assertEquals(List.of(), proposedLevels());
        levels.noted(2, OWN);
        assertEquals(List.of(OWN), proposedLevels());
    }

    @Test
    void anUpgradedClusterWaitsForTheTimeThatIsSet() {
        inForce(1);
        FeatureLevels levels = levels(Optional.of(DAY));
        levels.lead(two());
        levels.noted(2, OWN);
        passWithNotes(levels, DAY.minusMillis(1));
        assertEquals(List.of(), proposedLevels());
        time.advance(Duration.ofMillis(1));
        levels.noted(2, OWN);
        assertEquals(List.of(OWN), proposedLevels());
    }

    @Test
    void theTimeBeginsAnewWhenAMemberWentBack() {
        inForce(1);
        FeatureLevels levels = levels(Optional.of(DAY));
        levels.lead(two());
        levels.noted(2, OWN);
        passWithNotes(levels, DAY.minusMillis(1));
        levels.noted(2, 1);
        levels.noted(2, OWN);
        time.advance(Duration.ofMillis(1));
        levels.noted(2, OWN);
        assertEquals(List.of(), proposedLevels());
    }

    /** It may be stopped in order to be put back. */
    @Test
    void aMemberThatIsAwayKeepsTheLevelWhereItIs() {
        inForce(1);
        FeatureLevels levels = levels(Optional.empty());
        levels.lead(two());
        levels.noted(2, OWN);
        time.advance(Duration.ofSeconds(31));
        String answer = levels.raise().toCompletableFuture().join();
        assertTrue(answer.startsWith(FeatureLevelService.NOT_RAISED) && answer.contains("{1=2, 2=0}"), answer);
        levels.noted(2, OWN);
        var raised = levels.raise().toCompletableFuture();
        assertEquals(List.of(OWN), proposedLevels());
        assertFalse(raised.isDone());
    }

    @Test
    void withoutATimeItWaitsForTheOperator() {
        inForce(1);
        FeatureLevels levels = levels(Optional.empty());
        levels.lead(two());
        levels.noted(2, OWN);
        passWithNotes(levels, DAY.multipliedBy(3));
        assertEquals(List.of(), proposedLevels());
        var answer = levels.raise().toCompletableFuture();
        assertEquals(List.of(OWN), proposedLevels());
        assertFalse(answer.isDone(), "it is not in force yet");
        inForce(OWN);
        time.advance(Duration.ofSeconds(1));
        assertEquals("Feature level 2 is in force", answer.join());
    }

    @Test
    void nothingIsRaisedThatAMemberDoesNotUnderstand() {
        inForce(1);
        FeatureLevels levels = levels(Optional.empty());
        levels.lead(two());
        levels.noted(2, 1);
        String answer = levels.raise().toCompletableFuture().join();
        assertTrue(answer.startsWith(FeatureLevelService.NOT_RAISED) && answer.contains("{1=2, 2=1}"), answer);
        assertEquals(List.of(), proposedLevels());
    }

    @Test
    void aMemberThatDoesNotLeadNamesTheLeader() {
        inForce(1);
        FeatureLevels levels = levels(Optional.empty());
        leaderTerm.end();
        String answer = levels.raise().toCompletableFuture().join();
        assertEquals(FeatureLevelService.NOT_RAISED + "server 3 leads; ask there", answer);
    }

    @Test
    void theOperatorIsAnsweredAlsoIfTheLogDoesNotTakeIt() {
        inForce(1);
        FeatureLevels levels = levels(Optional.empty());
        levels.lead(two());
        levels.noted(2, OWN);
        takes = false;
        var answer = levels.raise().toCompletableFuture();
        for (int i = 0; i < 40; i++) {
            time.advance(Duration.ofSeconds(1));
        }
        assertTrue(answer.join().startsWith(FeatureLevelService.NOT_RAISED), answer.join());
    }
}
