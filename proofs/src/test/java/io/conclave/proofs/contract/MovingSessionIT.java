package io.conclave.proofs.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What a client keeps when the server that it is connected to goes away and it finds another one: its session, its
 * watches, and what it has seen.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MovingSessionIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final NodePath PLACE = NodePath.of("/place");

    private final List<Coordinator> coordinators = new ArrayList<>();
    private ConclaveEnsemble ensemble;
    private OptionalInt killed = OptionalInt.empty();

    @BeforeAll
    void start() {
        ensemble = ConclaveEnsemble.builder().electionTimeoutMs(1_000).start();
    }

    @AfterAll
    void stop() {
        ensemble.close();
    }

    @BeforeEach
    void makePlace() throws InterruptedException {
        connect().execute(Create.of(PLACE));
    }

    @AfterEach
    void cleanUp() throws InterruptedException {
        comeBack();
        Coordinator cleaner = connect();
        for (String name : cleaner.execute(GetChildren.of(PLACE)).names()) {
            cleaner.execute(Delete.of(PLACE.child(name)));
        }
        cleaner.execute(Delete.of(PLACE));
        coordinators.forEach(Coordinator::close);
        coordinators.clear();
    }

    private Coordinator connect() {
        Coordinator coordinator = Coordinator.builder(ensemble.connectString())
                .sessionTimeout(TIMEOUT)
                .connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    /** One that is not on that server. */
    private Coordinator connectElsewhere(int server) {
        Coordinator coordinator = connect();
        while (serverOf(coordinator) == server) {
            coordinator = connect();
        }
        return coordinator;
    }

    /** Which server opened the session, and has its connection as long as that has not been lost. */
    private static int serverOf(Coordinator coordinator) {
        return (int) (RecipeAccess.session(coordinator).id() >>> 56);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void kill(int server) {
        killed = OptionalInt.of(server);
        ensemble.kill(server);
    }

    private void comeBack() {
        killed.ifPresent(server -> {
            killed = OptionalInt.empty();
            ensemble.restart(server);
            ensemble.awaitServing(server);
        });
    }

    private static void awaitConnected(Coordinator coordinator) {
        await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.CONNECTED);
    }

    @Test
    void sessionWithItsEphemeralAndItsGrantGoesFromServerToServer() throws InterruptedException {
        Coordinator traveller = connect();
        long session = RecipeAccess.session(traveller).id();
        NodePath ephemeral = PLACE.child("ephemeral");
        traveller.execute(Create.of(ephemeral).withMode(CreateMode.EPHEMERAL));
        AtomicInteger losses = new AtomicInteger();
        traveller.onStateChange(state -> losses.addAndGet(state == SessionState.LOST ? 1 : 0));
        try (LockGrant grant = DistributedLock.at(traveller, "/moving").acquire(PATIENCE)) {
            for (int server : ensemble.ids()) {
                kill(server);
                awaitConnected(traveller);
                assertEquals(
                        session,
                        traveller.execute(Exists.of(ephemeral)).orElseThrow().ephemeralOwner());
                traveller.execute(SetData.of(ephemeral, bytes("server " + server + " is gone")));
                grant.ensureHeld();
                comeBack();
            }
        }
        assertEquals(session, RecipeAccess.session(traveller).id());
        assertEquals(0, losses.get());
    }

    @Test
    void watchesAreSetAgainAndTellOnceWhatHappenedMeanwhile() throws InterruptedException {
        Coordinator watching = connect();
        int server = serverOf(watching);
        Coordinator other = connectElsewhere(server);
        for (String name : List.of("changed", "deleted", "later")) {
            other.execute(Create.of(PLACE.child(name)));
        }
        List<String> told = new CopyOnWriteArrayList<>();
        for (String name : List.of("changed", "deleted", "later")) {
            watching.execute(GetData.of(PLACE.child(name)).withWatcher(event -> told.add(text(event))));
        }
        watching.execute(Exists.of(PLACE.child("created")).withWatcher(event -> told.add(text(event))));
        watching.execute(GetChildren.of(PLACE).withWatcher(event -> told.add(text(event))));
        kill(server);
        other.execute(SetData.of(PLACE.child("changed"), bytes("now")));
        other.execute(Delete.of(PLACE.child("deleted")));
        other.execute(Create.of(PLACE.child("created")));
        List<String> meanwhile = List.of(
                "CHILDREN_CHANGED /place",
                "CREATED /place/created",
                "DATA_CHANGED /place/changed",
                "DELETED /place/deleted");
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertEquals(meanwhile, told.stream().sorted().toList()));
        other.execute(SetData.of(PLACE.child("later"), bytes("later")));
        await().atMost(PATIENCE).until(() -> told.contains("DATA_CHANGED /place/later"));
        other.execute(SetData.of(PLACE.child("later"), bytes("again")));
        other.execute(SetData.of(PLACE.child("changed"), bytes("again")));
        watching.execute(GetData.of(PLACE.child("later")));
        assertEquals(5, told.size(), told::toString);
    }

    @Test
    void recursiveWatchGoesOnAtTheNextServer() throws InterruptedException {
        Coordinator watching = connect();
        int server = serverOf(watching);
        Coordinator other = connectElsewhere(server);
        List<String> told = new CopyOnWriteArrayList<>();
        watching.execute(new AddWatch(PLACE, true, event -> told.add(text(event))));
        other.execute(Create.of(PLACE.child("before")));
        await().atMost(PATIENCE).until(() -> told.contains("CREATED /place/before"));
        kill(server);
        awaitMoved(watching, server);
        other.execute(Create.of(PLACE.child("after")));
        await().atMost(PATIENCE).until(() -> told.contains("CREATED /place/after"));
        assertEquals(List.of("CREATED /place/before", "CREATED /place/after"), told);
    }

    /** Waits until the session answers on a connection of which the watches are known to the server. */
    private static void awaitMoved(Coordinator coordinator, int from) throws InterruptedException {
        assertEquals(from, serverOf(coordinator));
        await().atMost(PATIENCE)
                .until(() -> RecipeAccess.session(coordinator).connectionNumber() > 1
                        && coordinator.state() == SessionState.CONNECTED);
        coordinator.execute(Exists.of(PLACE));
    }

    @Test
    void aClientSeesNoOlderStateOnALaterServer() throws InterruptedException {
        Coordinator traveller = connect();
        NodePath counter = PLACE.child("counter");
        traveller.execute(Create.of(counter));
        for (int server : ensemble.ids()) {
            for (int i = 0; i < 50; i++) {
                traveller.execute(SetData.of(counter, bytes(server + "." + i)));
            }
            kill(server);
            assertArrayEquals(
                    bytes(server + ".49"),
                    traveller.execute(GetData.of(counter)).data());
            comeBack();
            assertTrue(traveller.execute(Exists.of(counter)).isPresent());
        }
    }

    private static String text(NodeEvent event) {
        return event.type() + " " + event.path();
    }
}
