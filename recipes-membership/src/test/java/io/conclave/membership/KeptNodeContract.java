package io.conclave.membership;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What a kept znode promises, on every backend; a subclass says where the backend is. */
public abstract class KeptNodeContract extends RecipeFixture {
    private static final String PATH = "/services/billing/host-7";
    private static final NodePath NODE = NodePath.of(PATH);

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static KeptNode ephemeral(Coordinator coordinator, String data) throws InterruptedException {
        KeptNode node = KeptNode.ephemeral(coordinator, PATH, bytes(data));
        node.awaitCreated(PATIENCE);
        return node;
    }

    private static KeptNode persistent(Coordinator coordinator, String data) throws InterruptedException {
        KeptNode node = KeptNode.persistent(coordinator, PATH, bytes(data));
        node.awaitCreated(PATIENCE);
        return node;
    }

    private static Optional<NodeStat> stat(Coordinator coordinator) throws InterruptedException {
        return coordinator.execute(Exists.of(NODE).linearizable());
    }

    private static String data(Coordinator coordinator) throws InterruptedException {
        try {
            return coordinator.execute(GetData.of(NODE).linearizable()).bytes().text();
        } catch (RefusedException noNode) {
            return "not there";
        }
    }

    private static void awaitData(Coordinator coordinator, String expected) {
        await().atMost(PATIENCE).until(() -> data(coordinator).equals(expected));
    }

    private static void awaitState(KeptNode node, KeptNodeState expected) {
        await().atMost(PATIENCE).until(() -> node.state() == expected);
    }

    private static Throwable failure(CompletableFuture<?> stage) {
        return assertThrows(ExecutionException.class, () -> stage.get(120, SECONDS))
                .getCause();
    }

    @Test
    void isThereWithItsDataUntilItIsClosed() throws Exception {
        Coordinator other = connect();
        Coordinator coordinator = connect();
        try (KeptNode node = ephemeral(coordinator, "one")) {
            assertEquals("one", data(other));
            assertEquals(
                    RecipeAccess.session(coordinator).id(),
                    stat(other).orElseThrow().ephemeralOwner());
            assertEquals(KeptNodeState.PRESENT, node.state());
            node.update(bytes("two"));
            assertEquals("two", data(other));
            get(node.closeAsync()); // close() waits no longer than a session lasts
        }
        assertEquals("not there", data(other));
        try (KeptNode node = persistent(coordinator, "three")) {
            assertEquals("three", data(other));
            assertEquals(0, stat(other).orElseThrow().ephemeralOwner());
            node.update(bytes("four"));
            assertEquals("four", data(other));
            get(node.closeAsync());
            assertEquals("not there", data(other));
            assertEquals(KeptNodeState.CLOSED, node.state());
        }
    }

    @Test
    void comesBackWithTheLatestDataWheneverItIsDeleted() throws Exception {
        Coordinator other = connect();
        Coordinator coordinator = connect();
        for (boolean isEphemeral : List.of(true, false)) {
            KeptNode node = isEphemeral ? ephemeral(coordinator, "one") : persistent(coordinator, "one");
            List<KeptNodeState> told = Collections.synchronizedList(new ArrayList<>());
            node.onStateChange(told::add);
            node.update(bytes("two"));
            for (int i = 0; i < 5; i++) {
                other.execute(Delete.of(NODE));
                awaitData(other, "two");
            }
            awaitState(node, KeptNodeState.PRESENT);
            node.close();
            await().atMost(PATIENCE).until(() -> told.size() == 12);
            List<KeptNodeState> expected = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                expected.addAll(List.of(KeptNodeState.MISSING, KeptNodeState.PRESENT));
            }
            expected.addAll(List.of(KeptNodeState.CLOSING, KeptNodeState.CLOSED));
            assertEquals(expected, told);
        }
    }

    @Test
    void ephemeralOneComesBackAfterALostSession() throws Exception {
        Coordinator other = connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        KeptNode node = ephemeral(coordinator, "one");
        node.update(bytes("two"));
        long former = stat(other).orElseThrow().ephemeralOwner();
        loseSession(coordinator, clock);
        await().atMost(PATIENCE.plus(sessionTimeout().multipliedBy(2))).until(() -> stat(other)
                .filter(stat -> stat.ephemeralOwner() != former)
                .isPresent());
        assertEquals("two", data(other));
        awaitState(node, KeptNodeState.PRESENT);
        node.update(bytes("three"));
        assertEquals("three", data(other));
        get(node.closeAsync());
        assertEquals("not there", data(other));
    }

    @Test
    void persistentOneIsDeletedOnTheNextSessionToo() throws Exception {
        Coordinator other = connect();
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        KeptNode node = persistent(coordinator, "one");
        NodeStat before = stat(other).orElseThrow();
        loseSession(coordinator, clock);
        node.update(bytes("two"));
        assertEquals(before.czxid(), stat(other).orElseThrow().czxid());
        other.execute(Delete.of(NODE));
        awaitData(other, "two");
        awaitState(node, KeptNodeState.PRESENT);
        get(node.closeAsync());
        assertEquals("not there", data(other));
    }

    @Test
    void waitsUntilTheZnodeOfAnotherClientHasGone() throws Exception {
        Coordinator other = connect();
        KeptNode first = ephemeral(other, "first");
        KeptNode second = KeptNode.ephemeral(connect(), PATH, bytes("second"));
        WaitTimeoutException late =
                assertThrows(WaitTimeoutException.class, () -> second.awaitCreated(Duration.ofMillis(50)));
        assertTrue(late.getMessage().contains(PATH), late::getMessage);
        CompletableFuture<Void> created = second.created();
        KeptNode third = KeptNode.ephemeral(connect(), PATH, bytes("third"));
        third.closeAsync();
        assertInstanceOf(ClosedException.class, failure(third.created()));
        assertEquals("first", data(other));
        assertEquals(KeptNodeState.MISSING, second.state());
        first.close();
        get(created);
        assertEquals("second", data(other));
        second.close();
    }

    @Test
    void coordinatorKeepsAPathOnceAtATime() throws Exception {
        Coordinator other = connect();
        Coordinator coordinator = connect();
        KeptNode first = ephemeral(coordinator, "first");
        KeptNode second = KeptNode.ephemeral(coordinator, PATH, bytes("second"));
        KeptNode third = KeptNode.persistent(coordinator, PATH, bytes("third"));
        get(third.closeAsync());
        assertEquals("first", data(other));
        first.close();
        second.awaitCreated(PATIENCE);
        assertEquals("second", data(other));
        get(second.closeAsync());
        assertEquals("not there", data(other));
    }

    @Test
    void persistentOneTakesOverWhatIsThere() throws Exception {
        Coordinator other = connect();
        persistent(opened(builder()), "first");
        KeptNode second = persistent(connect(), "second");
        assertEquals("second", data(other));
        other.execute(SetData.of(NODE, bytes("somebody else's")));
        assertEquals("somebody else's", data(other));
        second.update(bytes("third"));
        assertEquals("third", data(other));
    }

    @Test
    void persistentOneStaysWhenItsCoordinatorIsClosed() throws Exception {
        Coordinator other = connect();
        Coordinator closing = connect();
        KeptNode stays = persistent(closing, "stays");
        KeptNode goes = KeptNode.ephemeral(closing, PATH + "-b", bytes("goes"));
        goes.awaitCreated(PATIENCE);
        closing.close();
        awaitState(stays, KeptNodeState.CLOSED);
        awaitState(goes, KeptNodeState.CLOSED);
        assertInstanceOf(ClosedException.class, failure(stays.closeAsync()));
        assertInstanceOf(ClosedException.class, failure(goes.updateAsync(bytes("late"))));
        assertEquals("stays", data(other));
        await().atMost(PATIENCE)
                .until(() -> other.execute(Exists.of(NodePath.of(PATH + "-b")).linearizable())
                        .isEmpty());
        stays.close();
    }

    @Test
    void updatesThatFollowEachOtherEndWithTheLast() throws Exception {
        Coordinator other = connect();
        KeptNode node = KeptNode.ephemeral(connect(), PATH, bytes("0"));
        List<CompletableFuture<Void>> updates = new ArrayList<>();
        for (int i = 1; i <= 30; i++) {
            updates.add(node.updateAsync(bytes("" + i)));
        }
        for (CompletableFuture<Void> update : updates) {
            get(update);
        }
        assertEquals("30", data(other));
        other.execute(SetData.of(NODE, bytes("somebody else's")));
        other.execute(Delete.of(NODE));
        awaitData(other, "30");
    }

    @Test
    void whatTheBackendRefusesFailsWithItsReason() throws Exception {
        Coordinator coordinator = connect();
        coordinator.execute(Create.of(NodePath.of("/ephemeral")).withMode(CreateMode.EPHEMERAL));
        KeptNode below = KeptNode.ephemeral(coordinator, "/ephemeral/child", bytes("x"));
        RefusedException refused = assertInstanceOf(RefusedException.class, failure(below.created()));
        assertEquals(RefusalReason.NO_CHILDREN_FOR_EPHEMERALS, refused.reason());
        awaitState(below, KeptNodeState.CLOSED);
        KeptNode parent = persistent(coordinator, "x");
        coordinator.execute(Create.of(NODE.child("child")));
        RefusedException notEmpty = assertInstanceOf(RefusedException.class, failure(parent.closeAsync()));
        assertEquals(RefusalReason.NOT_EMPTY, notEmpty.reason());
        assertNotEquals("not there", data(coordinator));
    }

    @Test
    void badInputIsRefusedByName() {
        Coordinator coordinator = connect();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> KeptNode.ephemeral(coordinator, "/", new byte[0]))
                .getMessage()
                .contains("\"/\""));
        KeptNode node = KeptNode.ephemeral(coordinator, PATH, new byte[0]);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> node.awaitCreated(Duration.ofMillis(-1)))
                .getMessage()
                .contains("PT-0.001S"));
    }
}
