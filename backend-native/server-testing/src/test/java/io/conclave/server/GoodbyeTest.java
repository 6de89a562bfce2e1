package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.node.NodePath;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.time.TimeSource;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers of an ensemble stop in order, and no client loses a reply by it. */
@Timeout(300)
class GoodbyeTest {
    private static final NodePath LARGE = NodePath.of("/large");
    private static final int LARGE_BYTES = 500_000;
    private static final int CLIENTS = 6;
    /** How long a server that stops waits for its clients to go elsewhere. */
    private static final Duration GOODBYE = Duration.ofSeconds(2);

    private ConclaveEnsemble ensemble;

    @BeforeEach
    void start() {
        ensemble = ConclaveEnsemble.builder().start();
    }

    @AfterEach
    void stop() {
        ensemble.close();
    }

    private int port(int id) {
        return ensemble.server(id).clientPort().orElseThrow();
    }

    /** Writes, reads much, and counts; a few requests are in flight at any time. */
    private static final class Load implements AutoCloseable {
        final Coordinator coordinator;
        final NodePath own;
        final List<SessionState> states = new CopyOnWriteArrayList<>();
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        final AtomicLong answers = new AtomicLong();
        final AtomicBoolean running = new AtomicBoolean(true);
        final List<CompletableFuture<?>> chains = new ArrayList<>();

        Load(String connectString, int number) {
            coordinator = Coordinator.builder(connectString)
                    .sessionTimeout(Duration.ofSeconds(20))
                    .connect();
            coordinator.onStateChange(states::add);
            own = NodePath.of("/client-" + number);
        }

        void begin() throws InterruptedException {
            coordinator.execute(Create.of(own));
            for (int i = 0; i < 4; i++) {
                CompletableFuture<Void> over = new CompletableFuture<>();
                chains.add(over);
                next(i, over);
            }
        }

        private void next(int step, CompletableFuture<Void> over) {
            if (!running.get()) {
                over.complete(null);
                return;
            }
            SetData set = SetData.of(own, new byte[10]);
            (switch (step % 4) {
                        case 0 ->
                            coordinator
                                    .submit(GetData.of(LARGE))
                                    .thenAccept(node -> assertEquals(LARGE_BYTES, node.data().length));
                        case 1 -> coordinator.submit(new Multi(List.of(set, set, set)));
                        default -> coordinator.submit(set);
                    })
                    .whenComplete((answer, failure) -> {
                        if (failure != null) {
                            failures.add(failure);
                        }
                        answers.incrementAndGet();
                        next(step + 1, over);
                    });
        }

        void awaitAnswers(int count) {
            long before = answers.get();
            Awaitility.await().until(() -> answers.get() >= before + count);
        }

        void assertNoticedNothing() {
            assertEquals(List.of(), List.copyOf(failures));
            assertFalse(states.contains(SessionState.SUSPENDED));
        }

        void forget() {
            failures.clear();
            states.clear();
        }

        @Override
        public void close() {
            running.set(false);
            chains.forEach(CompletableFuture::join);
            coordinator.close();
        }
    }

    @Test
    void everyServerIsRestartedUnderLoadAndNoRequestFailsAndNoApplicationNotices() throws Exception {
        try (Coordinator maker = Coordinator.builder(ensemble.connectString()).connect()) {
            maker.execute(Create.of(LARGE).withData(new byte[LARGE_BYTES]));
        }
        List<Load> loads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            loads.add(new Load(ensemble.connectString(), i));
        }
        try {
            for (Load load : loads) {
                load.begin();
            }
            for (int id : List.copyOf(ensemble.ids())) {
                while (!isRestartedInTime(id, loads)) { // a busy machine kept clients from moving: they may notice it
                    loads.forEach(load -> load.awaitAnswers(10));
                    loads.forEach(Load::forget);
                }
            }
        } finally {
            loads.forEach(Load::close);
        }
        loads.forEach(Load::assertNoticedNothing);
    }

    /** False if not all clients had moved when the server's goodbye was over. */
    private boolean isRestartedInTime(int id, List<Load> loads) {
        loads.forEach(load -> load.awaitAnswers(10));
        long beganNanos = TimeSource.system().monotonicNanos();
        ensemble.stop(id);
        boolean inTime = !isOver(GOODBYE, beganNanos);
        loads.forEach(load -> load.awaitAnswers(10));
        if (inTime) {
            loads.forEach(Load::assertNoticedNothing);
        }
        ensemble.restart(id);
        ensemble.awaitServing(id);
        return inTime;
    }

    private static boolean isOver(Duration time, long beganNanos) {
        return TimeSource.system().monotonicNanos() - beganNanos >= time.toNanos();
    }

    @Test
    void clientThatWatchesTheClusterNodeIsNotifiedAndServedUntilItMoves() throws Exception {
        int leaving = ensemble.awaitLeader();
        try (RawClient client = RawClient.attached(port(leaving), 30_000)) {
            assertEquals(0, client.call(Requests.create("/a")).header().err());
            client.call(new RequestBody.GetData("/zookeeper/conclave", true), ReplyBody.GetData.class);
            long beganNanos = TimeSource.system().monotonicNanos();
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> ensemble.stop(leaving));
            RawClient.Message event = client.read();
            assertTrue(event.isEvent());
            assertEquals("/zookeeper/conclave", event.event().orElseThrow().path());
            try {
                for (int i = 0; i < 20; i++) {
                    assertEquals(
                            0, client.call(Requests.set("/a", "x")).header().err());
                }
                assertTrue(!stopped.isDone() || isOver(GOODBYE, beganNanos));
            } catch (EOFException | SocketException e) {
                assertTrue(isOver(GOODBYE, beganNanos), "a server that waits no longer ends the connection");
            }
            client.close();
            stopped.join();
        }
    }

    @Test
    void clientWithoutGoodbyesGetsItsRepliesAndThenTheEndOfTheStream() throws Exception {
        int leaving = ensemble.awaitLeader();
        try (RawClient client = RawClient.attached(port(leaving), 30_000)) {
            assertEquals(0, client.call(Requests.create("/a")).header().err());
            RequestBody[] sets = new RequestBody[100];
            java.util.Arrays.fill(sets, Requests.set("/a", "x"));
            client.send(sets);
            assertEquals(0, client.read().header().err());
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> ensemble.stop(leaving));
            for (int i = 1; i < sets.length; i++) {
                assertEquals(0, client.read().header().err());
            }
            assertTrue(client.isClosedByServer());
            stopped.join();
        }
    }

    @Test
    void serverThatIsTheOnlyMemberAnswersWhatItHasReadAndEnds() throws IOException {
        try (ConclaveServer alone = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(alone), 30_000)) {
            client.call(Requests.create("/a"));
            client.call(new RequestBody.GetData("/zookeeper/conclave", true), ReplyBody.GetData.class);
            RequestBody[] sets = new RequestBody[100];
            java.util.Arrays.fill(sets, Requests.set("/a", "x"));
            client.send(sets);
            // what is not read when it closes is neither done nor answered, and a busy server reads in turns
            await().until(() -> received(TestServer.port(alone)) > sets.length);
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(alone::close);
            for (int i = 0; i < sets.length; i++) {
                assertEquals(0, client.read().header().err());
            }
            assertTrue(client.isClosedByServer());
            stopped.join();
        }
    }

    /** How many requests the server has read, by its own word. */
    private static long received(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.lines()
                    .filter(line -> line.startsWith("Received: "))
                    .mapToLong(line -> Long.parseLong(line.substring("Received: ".length())))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(answer));
        }
    }
}
