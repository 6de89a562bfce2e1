package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogRole;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers in this JVM that stand still. */
@Timeout(300)
class PausedServerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static ConclaveEnsemble ensemble;
    private static int places;
    private final Set<Integer> paused = new TreeSet<>();
    private NodePath place;

    @BeforeAll
    static void start() {
        ensemble = ConclaveEnsemble.builder()
                .electionTimeoutMs(500)
                .syncLimitTicks(600) // a busy machine may take seconds to elect a leader
                .start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @BeforeEach
    void choosePlace() {
        place = NodePath.of("/place-" + places++);
    }

    @AfterEach
    void allServe() {
        paused.forEach(ensemble::resume);
        paused.clear();
        ensemble.ids().forEach(ensemble::awaitServing);
    }

    private void pause(int id) {
        ensemble.pause(id);
        paused.add(id);
    }

    private void resume(int id) {
        paused.remove(id);
        ensemble.resume(id);
    }

    /**
     * Pauses the leader, once it has what was written through another server.
     *
     * @return the leader; empty if it had been replaced by then, as happens on a busy machine: nothing is paused
     */
    private Optional<Integer> pauseTheLeader(int served) {
        int leader = ensemble.awaitLeader();
        if (leader == served) {
            return Optional.empty();
        }
        await().atMost(PATIENCE)
                .until(() ->
                        ensemble.server(leader).state().znode(place.toString()).isPresent());
        pause(leader);
        if (ensemble.server(leader).logStatus().role() != LogRole.LEADING) {
            resume(leader);
            return Optional.empty();
        }
        return Optional.of(leader);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private byte[] dataAt(int id) {
        return ensemble.server(id).state().znode(place.toString()).orElseThrow().data();
    }

    @Test
    void pausedLeaderIsReplacedAndFollowsWhenItGoesOnWhileSessionsOfOthersLive() throws InterruptedException {
        while (!isReplacedAndFollows()) {
            choosePlace();
        }
    }

    /** False if the leader changed before it was paused. */
    private boolean isReplacedAndFollows() throws InterruptedException {
        int served = ensemble.follower();
        try (Coordinator client = Coordinator.connect(ensemble.connectString(served))) {
            long session = RecipeAccess.session(client).id();
            client.execute(Create.of(place).withData(bytes("before")));
            Optional<Integer> replaced = pauseTheLeader(served);
            if (replaced.isEmpty()) {
                return false;
            }
            int leader = replaced.get();
            assertNotEquals(leader, ensemble.awaitLeader());
            client.execute(SetData.of(place, bytes("meanwhile")));
            assertArrayEquals(bytes("before"), dataAt(leader));
            assertEquals(LogRole.LEADING, ensemble.server(leader).logStatus().role());
            resume(leader);
            await().atMost(PATIENCE)
                    .until(() -> ensemble.server(leader).logStatus().role() == LogRole.FOLLOWING
                            && new String(dataAt(leader), StandardCharsets.UTF_8).equals("meanwhile"));
            assertArrayEquals(
                    bytes("meanwhile"), client.execute(GetData.of(place)).data());
            assertEquals(session, RecipeAccess.session(client).id());
            return true;
        }
    }

    @Test
    void pausedServerTakesConnectionsAndAnswersThemOnlyWhenItGoesOn() throws IOException {
        int id = ensemble.follower();
        int port = ensemble.server(id).clientPort().orElseThrow();
        pause(id);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(bytes("ruok"));
            socket.setSoTimeout(300);
            assertThrows(
                    SocketTimeoutException.class, () -> socket.getInputStream().read());
            resume(id);
            socket.setSoTimeout(60_000);
            assertArrayEquals(bytes("imok"), socket.getInputStream().readAllBytes());
        }
    }

    @Test
    void clientOfAPausedServerLosesItsSessionByItsOwnClockAndGetsAnotherAfterThePause() throws InterruptedException {
        int id = ensemble.follower();
        int other = ensemble.awaitLeader();
        try (Coordinator client = Coordinator.builder(ensemble.connectString(id))
                .sessionTimeout(Duration.ofSeconds(2))
                .connect()) {
            List<SessionState> states = new CopyOnWriteArrayList<>();
            client.onStateChange(states::add);
            long session = RecipeAccess.session(client).id();
            pause(id);
            await().atMost(PATIENCE).until(() -> states.contains(SessionState.LOST));
            await().atMost(PATIENCE)
                    .until(() -> !ensemble.server(other).state().sessions().containsKey(session));
            resume(id);
            await().atMost(PATIENCE)
                    .until(() -> client.state() == SessionState.CONNECTED
                            && RecipeAccess.session(client).id() != session);
        }
    }

    @Test
    void pausedServerCanBeKilledAndStartedAgain() {
        int leader = ensemble.awaitLeader();
        ensemble.pause(leader);
        ensemble.kill(leader);
        assertNotEquals(leader, ensemble.awaitLeader());
        ensemble.restart(leader);
        ensemble.awaitServing(leader);
    }

    @Test
    void serverThatIsKilledWhileItIsPausedAnswersNothingOfWhatItWasSentMeanwhile() throws IOException {
        int id = ensemble.follower();
        int port = ensemble.server(id).clientPort().orElseThrow();
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
        }
        await().atMost(PATIENCE).until(() -> ensemble.server(id).connectionCount() >= 100);
        ensemble.pause(id);
        sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
        for (Socket socket : sockets) {
            socket.getOutputStream().write(bytes("ruok"));
        }
        // an event loop that was at its tasks for a second looks for input after each 64 of them
        await().pollDelay(Duration.ofMillis(1_100)).until(() -> true);
        ensemble.kill(id);
        for (Socket socket : sockets) {
            assertEquals("", textUntilItEnds(socket));
        }
        ensemble.restart(id);
    }

    private static String textUntilItEnds(Socket connected) throws IOException {
        try (Socket socket = connected) {
            socket.setSoTimeout(60_000);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (SocketException e) {
            return "";
        }
    }

    @Test
    void faultsThatDoNotApplyToAServerAreRefusedWithAReason() {
        try (ConclaveEnsemble alone = ConclaveEnsemble.start(1)) {
            refused("server 1 is not paused", () -> alone.resume(1));
            alone.pause(1);
            refused("server 1 is paused already", () -> alone.pause(1));
            refused("server 1 is paused; resume it", () -> alone.stop(1));
            refused("server 1 is paused and serves no client", () -> alone.awaitServing(1));
            assertTrue(alone.leader().isEmpty());
            alone.kill(1);
            refused("server 1 does not run", () -> alone.pause(1));
            refused("server 1 does not run", () -> alone.resume(1));
            alone.restart(1);
            alone.awaitServing(1);
            alone.pause(1);
            IllegalArgumentException unknown = assertThrows(IllegalArgumentException.class, () -> alone.pause(2));
            assertEquals("there is no server 2, only [1]", unknown.getMessage());
        }
    }

    private static void refused(String reason, Runnable action) {
        IllegalStateException refusal = assertThrows(IllegalStateException.class, action::run);
        assertTrue(refusal.getMessage().startsWith(reason), refusal.getMessage());
    }
}
