package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A member leaves, and its znode is not what it was when its deletion arrives. */
class LateDeletionTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final NodePath GROUP = NodePath.of("/group");
    private static final NodePath MEMBER = GROUP.child("x");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator leaving = store.connect(clock);
    private final Coordinator next = store.connect(new ManualTimeSource());
    private final long leavingSession = sessionOf(leaving);
    private final Group<String> group = Group.at(leaving, GROUP, DataCodec.TEXT);

    private static long sessionOf(Coordinator coordinator) {
        await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.CONNECTED);
        return RecipeAccess.session(coordinator).id();
    }

    private CompletableFuture<Membership<String>> waitingSuccessor() {
        CompletableFuture<Membership<String>> joining =
                Group.at(next, GROUP, DataCodec.TEXT).joinAsync("x", "successor");
        await().atMost(PATIENCE).until(() -> faults.watchCount(sessionOf(next)) == 1);
        return joining;
    }

    @Test
    void deletionThatArrivesBehindTheSuccessorsCreationLeavesItAlone() throws Exception {
        Membership<String> member = group.join("x", "first");
        member.update("second");
        CompletableFuture<Membership<String>> joining = waitingSuccessor();
        faults.keepAway(clock);
        faults.onNext(leavingSession, Delete.class::isInstance, RequestFate.DROP_AND_APPLY_LATE);
        CompletableFuture<Void> left = member.closeAsync();
        await().atMost(PATIENCE).until(() -> leaving.state() == SessionState.SUSPENDED);
        faults.deleteAsOperator(MEMBER);
        Membership<String> successor = joining.get(PATIENCE.toSeconds(), SECONDS);
        faults.rejoin(clock);
        left.get(PATIENCE.toSeconds(), SECONDS);
        assertTrue(next.execute(Exists.of(MEMBER)).isPresent());
        next.execute(Exists.of(MEMBER)); // behind what the first look may have told
        assertEquals(MembershipState.MEMBER, successor.state());
    }

    /** A server that lags would show the znode as it was, and the deletion would meet the successor's. */
    @Test
    void znodeIsLookedAtBehindASyncWhenTheDeletionWasNotAnswered() throws Exception {
        Membership<String> member = group.join("x", "first");
        List<Class<?>> sent = new CopyOnWriteArrayList<>();
        AtomicBoolean isLost = new AtomicBoolean();
        faults.intercept((session, request, index) -> {
            if (session == leavingSession && isLost.get()) {
                sent.add(request.getClass());
            }
            boolean loses = request instanceof Delete && !isLost.getAndSet(true);
            return loses ? RequestFate.DROP_AFTER : RequestFate.PROCEED;
        });
        member.closeAsync().get(PATIENCE.toSeconds(), SECONDS);
        assertEquals(List.of(Sync.class, GetData.class), sent);
    }

    @Test
    void znodeThatAnotherClientHasWrittenIsDeletedAllTheSame() throws Exception {
        Membership<String> member = group.join("x", "first");
        faults.holdReplies(leavingSession);
        next.execute(SetData.of(MEMBER, new byte[] {1}));
        CompletableFuture<Void> left = member.closeAsync();
        faults.releaseReplies(leavingSession);
        left.get(PATIENCE.toSeconds(), SECONDS);
        assertTrue(next.execute(Exists.of(MEMBER)).isEmpty());
    }
}
