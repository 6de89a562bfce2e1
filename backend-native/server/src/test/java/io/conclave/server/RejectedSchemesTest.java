package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.connection.Refusals;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.LoggerFactory;

/** A stranger that gives credentials which prove nothing, again and again. */
@ResourceLock("the level at which refusals are logged")
class RejectedSchemesTest {
    private static final int ATTEMPTS = 500;
    private static final String SCHEME = "guess-of-a-stranger\nWARN all is well\u202e";

    @Test
    void eachAttemptIsCountedAndFewAreLogged() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(Refusals.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.setLevel(Level.WARN); // simulations in this JVM turn all off
        logger.addAppender(log);
        try (ConclaveServer server = start()) {
            for (int i = 0; i < ATTEMPTS; i++) {
                try (RawClient stranger = RawClient.attached(TestServer.port(server), 20_000)) {
                    byte[] guess = Requests.bytes("password-" + i);
                    assertEquals(
                            ErrorCode.AUTH_FAILED.code(),
                            stranger.call(new ConnectionRequest.Auth(0, SCHEME, guess))
                                    .header()
                                    .err());
                    assertTrue(stranger.isClosedByServer());
                }
            }
            assertEquals(ATTEMPTS, rejected(server));
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
        List<String> lines = log.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains("guess-of-a-stranger"))
                .toList();
        assertEquals(3, lines.size(), "in one moment of the server's clock");
        for (String line : lines) {
            assertTrue(line.startsWith("Rejected the credentials of /127.0.0.1:"), line);
            assertTrue(line.contains("guess-of-a-stranger\\nWARN all is well\\u202e"), line);
            assertTrue(!line.contains("password-"), line);
        }
    }

    /** On a clock that stands still. */
    private static ConclaveServer start() {
        return ConclaveServer.start(
                TestServer.config().commandWhitelist(Set.of("mntr")).build(), new ManualTimeSource(), cause -> {});
    }

    private static int rejected(ConclaveServer server) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), TestServer.port(server))) {
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            String line = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .filter(each -> each.startsWith("zk_conclave_rejected_credentials\t"))
                    .findFirst()
                    .orElseThrow();
            return Integer.parseInt(line.substring(line.indexOf('\t') + 1));
        }
    }
}
