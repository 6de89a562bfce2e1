package io.conclave.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** An application that blocks where it is called back stops neither the heartbeats nor other requests. */
class BlockedApplicationTest extends WireSessionFixture {
    @Test
    void sessionOutlivesItsTimeoutWhileItsCallbacksBlock() throws Exception {
        CountDownLatch composed = new CountDownLatch(1);
        FakeServer server = server(peer -> {
            peer.open(TIMEOUT_MS);
            // what follows a stage that is complete already runs on the thread that asks, which would be the test's
            block(composed);
            serve(peer);
        });
        ManualTimeSource time = new ManualTimeSource();
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        try (Coordinator coordinator = Coordinator.builder(server.url())
                .sessionTimeout(Duration.ofMillis(TIMEOUT_MS))
                .timeSource(time)
                .connect()) {
            coordinator.onStateChange(state -> block(mayReturn));
            coordinator.submit(GetData.of(A)).thenRun(() -> {
                blocked.countDown();
                block(mayReturn);
            });
            composed.countDown();
            assertTrue(blocked.await(120, SECONDS));
            for (int passed = 0; passed < 3 * TIMEOUT_MS; passed += STEP_MS) {
                time.advance(Duration.ofMillis(STEP_MS));
                // its answer comes behind those to all that the session has sent by now, pings among them
                assertEquals(1, coordinator.execute(GetData.of(A)).data()[0]);
                assertEquals(SessionState.CONNECTED, coordinator.state());
            }
            assertEquals(1, server.accepted());
        } finally {
            mayReturn.countDown();
        }
    }

    private static void block(CountDownLatch until) {
        try {
            until.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
