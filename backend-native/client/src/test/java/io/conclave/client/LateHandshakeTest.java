package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.request.GetData;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A handshake that takes most of the session's timeout, as while the servers elect a leader. */
@Timeout(300)
final class LateHandshakeTest extends WireSessionFixture {
    private final ManualTimeSource time = new ManualTimeSource();
    private final CountDownLatch greeted = new CountDownLatch(1);
    private final CountDownLatch elected = new CountDownLatch(1);
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answers = new CountDownLatch(1);

    private final FakeServer late = server(
            peer -> {
                ConnectRequest greeting = peer.readGreeting();
                greeted.countDown();
                elected.await();
                peer.answersPings = false;
                peer.accept(greeting, TIMEOUT_MS);
                FakeServer.Received first = peer.next();
                asked.countDown();
                answers.await();
                peer.refuse(first, ErrorCode.NO_NODE); // whose server it is
                peer.answersPings = true;
                serve(peer);
            },
            WireSessionFixture::openAndServe);

    @Test
    void serverMayBeSilentForAsLongAsOnAnyConnection() throws Exception {
        TestSession session = session(late.url(), time);
        CompletableFuture<GetData.NodeData> read = session.submit(GetData.of(A));
        greeted.await();
        time.advance(Duration.ofMillis(TIMEOUT_MS * 7 / 10));
        elected.countDown();
        asked.await();
        for (int passed = 0; passed < TIMEOUT_MS / 10; passed += 100) {
            time.advance(Duration.ofMillis(100));
            Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> time.pendingTimers() > 0);
        }
        answers.countDown();
        assertEquals(1, TestSession.join(read).data()[0]);
        assertEquals(1, late.accepted());
    }
}
