package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.ChangeProposal;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.AuthId;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** On a log that applies what it is given at once, at the time of the clock. */
class ContainerReaperTest {
    private static final long SESSION = 1;
    private static final Reaping REAPING = new Reaping(60_000, 600, 0);

    private final ManualTimeSource time = new ManualTimeSource();
    private final List<Change> proposed = new ArrayList<>();
    private final LeaderTerm leaderTerm = new LeaderTerm(() -> true);
    private TreeState state = TreeState.initial(new UUID(1, 2), 0);
    private boolean takes = true;
    private boolean fails;
    private long attachment;

    private final ReplicatedLog log = (ReplicatedLog) Proxy.newProxyInstance(
            ReplicatedLog.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                if (fails) {
                    throw new OutOfMemoryError("of the test");
                }
                if (takes) {
                    Change change = ((ChangeProposal) arguments[0]).change();
                    proposed.add(change);
                    apply(change);
                }
                return takes;
            });

    private Result apply(Change change) {
        var applied = Tree.apply(state, change, time.wallMillis());
        state = applied.state();
        return applied.result();
    }

    private void begin(Reaping reaping, int featureLevel) {
        apply(new Change.RaiseFeatureLevel(featureLevel));
        apply(new Change.OpenSession(SESSION, SessionPassword.of(new byte[SessionPassword.BYTES]), 1_000));
        attachment = state.session(SESSION).orElseThrow().attachment();
        leaderTerm.lead(1);
        new ContainerReaper(reaping, log, () -> state, leaderTerm, time, time::wallMillis, Runnable::run).start();
    }

    private void request(TreeOperation operation) {
        apply(new Change.Request(SESSION, attachment, List.of(AuthId.ANYONE), operation));
    }

    private void create(String path, long ttlMs) {
        ZnodeKind mode = ttlMs == 0 ? ZnodeKind.CONTAINER : ZnodeKind.PERSISTENT_WITH_TTL;
        request(new TreeOperation.Create(path, null, ZnodeAcl.OPEN, mode, ttlMs));
    }

    private boolean isThere(String path) {
        return state.znode(path).isPresent();
    }

    @Test
    void aNodeGoesAtTheFirstCheckAfterItsTimeToLive() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        create("/short", 59_999);
        create("/long", 60_000);
        time.advance(Duration.ofMillis(59_999));
        assertEquals(List.of(), proposed);
        time.advance(Duration.ofMillis(1));
        assertEquals(List.of(new Change.DeleteContainer("/short")), proposed);
        assertEquals(List.of(false, true), List.of(isThere("/short"), isThere("/long")));
        time.advance(Duration.ofSeconds(60));
        assertEquals(false, isThere("/long"));
        assertEquals(2, proposed.size());
    }

    @Test
    void noMoreAreDeletedInAMinuteThanAllowed() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        for (int i = 0; i < 1_000; i++) {
            create("/n" + i, 1);
        }
        time.advance(Duration.ofSeconds(60));
        assertEquals(10, proposed.size(), "a second's share");
        time.advance(Duration.ofMillis(999));
        assertEquals(10, proposed.size());
        time.advance(Duration.ofMillis(1));
        assertEquals(20, proposed.size());
        advanceBySeconds(59);
        assertEquals(610, proposed.size());
        advanceBySeconds(60);
        assertEquals(1_000, proposed.size());
        assertEquals(0, state.reaped().size());
    }

    @Test
    void shortChecksDoNotExceedTheLimitEither() {
        begin(new Reaping(1, 600, 0), Change.TTL_FEATURE_LEVEL);
        for (int i = 0; i < 1_000; i++) {
            create("/n" + i, 1 + i);
            time.advance(Duration.ofMillis(10));
        }
        assertTrue(proposed.size() <= 101, "in ten seconds: " + proposed.size());
    }

    private void advanceBySeconds(int seconds) {
        for (int i = 0; i < seconds; i++) {
            time.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void onlyTheLeaderProposes() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        leaderTerm.end();
        create("/t", 1);
        time.advance(Duration.ofSeconds(60));
        assertEquals(List.of(), proposed);
        leaderTerm.lead(2);
        time.advance(Duration.ofSeconds(60));
        assertEquals(1, proposed.size());
    }

    @Test
    void aDeletionTheLogHadNoRoomForIsProposedAtTheNextCheck() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        create("/t", 1);
        takes = false;
        time.advance(Duration.ofSeconds(60));
        assertEquals(true, isThere("/t"));
        takes = true;
        time.advance(Duration.ofSeconds(60));
        assertEquals(false, isThere("/t"));
    }

    @Test
    void anErrorDoesNotEndTheChecks() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        create("/t", 1);
        create("/u", 1);
        fails = true;
        time.advance(Duration.ofSeconds(60));
        assertEquals(true, isThere("/t"));
        fails = false;
        time.advance(Duration.ofSeconds(60));
        assertEquals(List.of(false, false), List.of(isThere("/t"), isThere("/u")));
    }

    @Test
    void aContainerThatWasNeverUsedGoesAfterItsTimeOnceAllMembersUnderstandThat() {
        begin(new Reaping(60_000, 600, 90_000), Change.TTL_FEATURE_LEVEL - 1);
        create("/box", 0);
        time.advance(Duration.ofSeconds(60));
        time.advance(Duration.ofSeconds(60));
        assertEquals(List.of(), proposed);
        apply(new Change.RaiseFeatureLevel(Change.TTL_FEATURE_LEVEL));
        time.advance(Duration.ofSeconds(60));
        assertEquals(List.of(new Change.DeleteContainer("/box", 90_000)), proposed);
        assertEquals(false, isThere("/box"));
    }

    @Test
    void aClockBehindTheLogsTimeDeletesNothingEarly() {
        begin(REAPING, Change.TTL_FEATURE_LEVEL);
        state = Tree.apply(state, new Change.NewTerm(2), time.wallMillis() + 600_000)
                .state();
        create("/t", 30_000);
        time.advance(Duration.ofSeconds(60));
        assertEquals(true, isThere("/t"), "by the log's time it was created just now");
    }
}
