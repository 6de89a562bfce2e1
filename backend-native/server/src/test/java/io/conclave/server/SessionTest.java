package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionTest {
    private static final Duration STEP = Duration.ofMillis(50);

    private static ConnectRequest resume(ConnectResponse session, int timeoutMs) {
        return new ConnectRequest(0, 0, timeoutMs, session.sessionId(), session.password(), false, true);
    }

    @Test
    void theTimeoutIsClampedToTheConfiguredRange() throws IOException {
        try (ConclaveServer server = TestServer.start(TestServer.config()
                        .minSessionTimeoutMs(200)
                        .maxSessionTimeoutMs(900)
                        .build());
                RawClient low = new RawClient(TestServer.port(server));
                RawClient high = new RawClient(TestServer.port(server));
                RawClient negative = new RawClient(TestServer.port(server));
                RawClient between = new RawClient(TestServer.port(server))) {
            assertEquals(200, low.connect(1).timeoutMs());
            assertEquals(900, high.connect(Integer.MAX_VALUE).timeoutMs());
            assertEquals(200, negative.connect(-5).timeoutMs());
            assertEquals(500, between.connect(500).timeoutMs());
        }
    }

    @Test
    void aServerLeavesOutTheReadOnlyByteIfTheClientDid() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient old = new RawClient(TestServer.port(server))) {
            ConnectResponse response = old.connect(new ConnectRequest(0, 0, 1000, 0, new byte[16], false, false));
            assertEquals(false, response.readOnlyPresent());
            assertNotEquals(0, response.sessionId());
        }
    }

    @Test
    void aSessionIsTakenUpWithItsPasswordAndTheOlderConnectionIsClosed() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient first = new RawClient(TestServer.port(server));
                RawClient second = new RawClient(TestServer.port(server))) {
            ConnectResponse session = first.connect(60_000);
            first.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            ConnectResponse resumed = second.connect(resume(session, 60_000));
            assertEquals(session.sessionId(), resumed.sessionId());
            assertArrayEquals(session.password(), resumed.password());
            assertTrue(first.isClosedByServer());
            assertEquals(
                    List.of("/e"),
                    second.call(new RequestBody.GetEphemerals("/"), ReplyBody.GetEphemerals.class)
                            .ephemerals());
        }
    }

    @Test
    void aWrongPasswordIsAnsweredWithTimeoutZeroAndLeavesTheSessionAlone() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient owner = new RawClient(TestServer.port(server));
                RawClient thief = new RawClient(TestServer.port(server));
                RawClient clumsy = new RawClient(TestServer.port(server))) {
            ConnectResponse session = owner.connect(60_000);
            ConnectResponse refused =
                    thief.connect(new ConnectRequest(0, 0, 60_000, session.sessionId(), new byte[16], false, true));
            assertEquals(0, refused.timeoutMs());
            assertEquals(0, refused.sessionId());
            assertArrayEquals(new byte[16], refused.password());
            assertTrue(thief.isClosedByServer());
            assertEquals(
                    0,
                    clumsy.connect(new ConnectRequest(0, 0, 60_000, session.sessionId(), new byte[3], false, true))
                            .timeoutMs());
            assertEquals(0, owner.call(Requests.exists("/")).header().err());
        }
    }

    @Test
    void aClientThatHasSeenTheFutureIsTurnedAwayWithoutAnAnswer() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = new RawClient(TestServer.port(server))) {
            assertThrows(
                    EOFException.class,
                    () -> client.connect(new ConnectRequest(0, Long.MAX_VALUE, 5000, 0, new byte[16], false, true)));
        }
    }

    @Test
    void aSilentSessionExpiresNotBeforeItsTimeoutAndTakesItsEphemeralsWithIt() throws IOException {
        ManualTimeSource time = new ManualTimeSource();
        try (ConclaveServer server = TestServer.start(time);
                RawClient silent = new RawClient(TestServer.port(server));
                RawClient watching = new RawClient(TestServer.port(server))) {
            ConnectResponse session = silent.connect(1000);
            watching.connect(60_000);
            silent.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            watching.call(Requests.existsAndWatch("/e"));
            time.advance(Duration.ofMillis(999));
            assertEquals(0, watching.call(Requests.exists("/e")).header().err());
            time.advanceUntil(
                    Duration.ofMillis(1), () -> server.state().sessions().size() == 1);
            assertTrue(watching.read().isEvent());
            assertEquals(-101, watching.call(Requests.exists("/e")).header().err());
            assertTrue(silent.isClosedByServer());
            try (RawClient late = new RawClient(TestServer.port(server))) {
                assertEquals(0, late.connect(resume(session, 1000)).timeoutMs());
            }
        }
    }

    @Test
    void pingsKeepASessionAliveAndSoDoesAnyRequest() throws IOException {
        ManualTimeSource time = new ManualTimeSource();
        try (ConclaveServer server = TestServer.start(time);
                RawClient client = RawClient.attached(TestServer.port(server), 1000)) {
            for (int i = 0; i < 5; i++) {
                time.advance(Duration.ofMillis(900));
                assertEquals(0, client.call(Requests.ping()).header().err());
                time.advance(Duration.ofMillis(900));
                assertEquals(0, client.call(Requests.exists("/")).header().err());
            }
        }
    }

    @Test
    void aDroppedConnectionKeepsItsSessionUntilTheTimeout() throws IOException {
        ManualTimeSource time = new ManualTimeSource();
        try (ConclaveServer server = TestServer.start(time)) {
            ConnectResponse session;
            try (RawClient client = new RawClient(TestServer.port(server))) {
                session = client.connect(1000);
                client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            }
            time.advance(Duration.ofMillis(900));
            try (RawClient again = new RawClient(TestServer.port(server))) {
                assertEquals(
                        session.sessionId(),
                        again.connect(resume(session, 1000)).sessionId());
                time.advance(Duration.ofMillis(900));
                assertEquals(0, again.call(Requests.exists("/e")).header().err());
            }
        }
    }

    @Test
    void closingASessionDeletesItsEphemeralsBeforeTheAnswer() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient leaving = RawClient.attached(TestServer.port(server), 60_000);
                RawClient staying = RawClient.attached(TestServer.port(server), 60_000)) {
            leaving.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            assertEquals(0, leaving.call(Requests.closeSession()).header().err());
            assertTrue(leaving.isClosedByServer());
            assertEquals(-101, staying.call(Requests.exists("/e")).header().err());
            await().until(() -> server.state().sessions().size() == 1);
        }
    }

    @Test
    void aShortSessionExpiresByTheRealClock() throws IOException {
        try (ConclaveServer server = TestServer.start()) {
            long before = TimeSource.system().monotonicNanos(); // the session begins before its answer is here
            try (RawClient client = RawClient.attached(TestServer.port(server), 100)) {
                assertTrue(client.isClosedByServer());
                long tookMs = (TimeSource.system().monotonicNanos() - before) / 1_000_000;
                assertTrue(tookMs >= 100 && tookMs < 20_000, "took " + tookMs + " ms");
            }
        }
    }

    /** Whichever wins the race between a ping and the expiry: an answered ping is followed by a full timeout. */
    @Test
    void aPingThatComesWithTheExpiryIsNotAnsweredOrKeepsTheSession() throws IOException {
        ManualTimeSource time = new ManualTimeSource();
        try (ConclaveServer server = TestServer.start(time);
                RawClient client = RawClient.attached(TestServer.port(server), 1000)) {
            time.advance(Duration.ofMillis(1001));
            if (isAnswered(client)) {
                time.advance(Duration.ofMillis(999));
                assertTrue(isAnswered(client), "it counted on its session");
            }
            // In steps: a check that the ping has put off is armed by the log's thread.
            time.advanceUntil(STEP, () -> server.state().sessions().isEmpty());
        }
    }

    private static boolean isAnswered(RawClient client) throws IOException {
        try {
            return client.call(Requests.ping()).header().err() == 0;
        } catch (EOFException | SocketException e) {
            return false;
        }
    }
}
