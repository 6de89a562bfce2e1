package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.connection.ClientLimit;
import io.conclave.connection.Refusals;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.Frames;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.LoggerFactory;

/** Strangers that say that they have seen changes of the far future. */
@ResourceLock("the level at which refusals are logged")
class ClientsAheadTest {
    private static final long NEVER = 0x7000_0000_dead_beefL;

    @Test
    void eachIsRefusedAndFewAreLogged() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(Refusals.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.setLevel(Level.WARN); // simulations in this JVM turn all off
        logger.addAppender(log);
        try (ConclaveServer server = ConclaveServer.start(
                TestServer.config().commandWhitelist(Set.of("mntr")).build(), new ManualTimeSource(), cause -> {})) {
            for (int i = 0; i < 30; i++) {
                try (RawClient stranger = new RawClient(TestServer.port(server))) {
                    ByteBuf greeting = Unpooled.buffer();
                    Frames.write(greeting, new ConnectRequest(0, NEVER, 10_000, 0, new byte[16], false, true));
                    stranger.write(greeting);
                    assertTrue(stranger.isClosedByServer());
                }
            }
            assertEquals(30, TestServer.metric(server, "zk_conclave_refused_clients_ahead"));
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
        assertEquals(
                3,
                log.list.stream()
                        .map(ILoggingEvent::getFormattedMessage)
                        .filter(line -> line.startsWith("Refused a session of /127.0.0.1:")
                                && line.contains("it has seen zxid 0x70000000deadbeef, this server only 0x"))
                        .count());
    }

    /** Any stranger may say that it is a bit ahead; then it waits until the server has caught up. */
    @Test
    void thoseThatHaveWaitedForTheLeaderAreBoundedAsOthersAre() throws IOException {
        ScriptedLog log = new ScriptedLog();
        ServerConfig config = TestServer.config()
                .commandWhitelist(Set.of("mntr"))
                .eventLoops(1)
                .handshakeTimeoutMs(300_000)
                .clientLimit(ClientLimit.SESSIONS, 3)
                .clientLimit(ClientLimit.SESSIONS_OF_ADDRESS, 0)
                .build();
        try (ConclaveServer server =
                ConclaveServer.start(config, (options, loop) -> log, TimeSource.system(), cause -> {})) {
            server.serving().toCompletableFuture().join();
            RawClient writer = RawClient.attached(TestServer.port(server), 60_000);
            log.answersReadIndexes = false;
            long next = server.state().lastZxid() + 1;
            List<RawClient> ahead = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                RawClient client = new RawClient(TestServer.port(server));
                client.sendConnect(new ConnectRequest(0, next, 60_000, 0, new byte[16], false, true));
                ahead.add(client);
            }
            await().until(() -> TestServer.metric(server, "zk_num_alive_connections") >= 7);
            writer.call(Requests.create("/a"));
            log.answerReadIndexes();
            assertEquals(2, ahead.stream().filter(ClientsAheadTest::hasSession).count());
            assertEquals(4, TestServer.metric(server, "zk_conclave_refused_sessions"));
            assertEquals(3, server.state().sessions().size());
            ahead.forEach(RawClient::close);
            writer.close();
        }
    }

    private static boolean hasSession(RawClient client) {
        try {
            client.readHeader();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
