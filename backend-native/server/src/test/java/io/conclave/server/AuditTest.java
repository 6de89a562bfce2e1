package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.conclave.connection.AuditLog;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.Perms;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.LoggerFactory;

/** The audit log says who has changed what, in ZooKeeper's format. */
@ResourceLock(AuditLog.LOGGER)
class AuditTest {
    private static final ServerConfig CONFIG = TestServer.config()
            .clientAuth(
                    new ClientAuthConfig("SHA1", Set.of(), false, Set.of(), Optional.empty(), false, false, true, ""))
            .build();

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getFormattedMessage());
        }
    };

    @BeforeEach
    void listen() {
        appender.start();
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).setLevel(Level.INFO);
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).addAppender(appender);
    }

    @AfterEach
    void stopListening() {
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).detachAppender(appender);
    }

    private static String address() {
        return java.net.InetAddress.getLoopbackAddress().getHostAddress();
    }

    @Test
    void eachChangeIsALineWithItsClientAndItsResult() throws IOException {
        String session;
        try (ConclaveServer server = TestServer.start(CONFIG);
                RawClient client = new RawClient(TestServer.port(server))) {
            session = "session=0x" + Long.toHexString(client.connect(60_000).sessionId());
            client.call(Requests.create("/a"));
            client.call(Requests.digest("bob:secret"));
            client.call(Requests.create("/a"));
            client.call(Requests.create("/a/n-", CreateFlag.PERSISTENT_SEQUENTIAL));
            client.call(Requests.set("/a", "x"));
            client.call(new RequestBody.SetAcl(
                    "/a",
                    List.of(new AclRecord(Perms.READ | Perms.CREATE, "digest", "eve:HASH"), AclRecord.OPEN.get(0)),
                    -1));
            client.call(new RequestBody.Multi(
                    OpCode.MULTI, List.of(Requests.create("/m"), Requests.set("/m", "y"), Requests.delete("/m"))));
            client.call(new RequestBody.Multi(OpCode.MULTI, List.of(Requests.create("/m"), Requests.delete("/no"))));
            client.call(Requests.get("/a"));
            client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            client.call(ConnectionRequest.Empty.CLOSE_SESSION);
        }
        String nobody = session + "\tuser=" + address() + "\tip=" + address() + "\toperation=";
        String bob = session + "\tuser=" + address() + ",bob\tip=" + address() + "\toperation=";
        String server = "user=" + System.getProperty("user.name");
        List<String> expected = List.of(
                server + "\toperation=serverStart\tresult=success",
                nobody + "create\tznode=/a\tznode_type=persistent\tresult=success",
                bob + "create\tznode=/a\tznode_type=persistent\tresult=failure",
                bob + "create\tznode=/a/n-0000000000\tznode_type=persistent_sequential\tresult=success",
                bob + "setData\tznode=/a\tresult=success",
                bob + "setAcl\tznode=/a\tacl=digest:eve:x:crworld:anyone:cdrwa\tresult=success",
                bob + "create\tznode=/m\tznode_type=persistent\tresult=success",
                bob + "setData\tznode=/m\tresult=success",
                bob + "delete\tznode=/m\tresult=success",
                bob + "multiOperation\tresult=failure",
                bob + "create\tznode=/e\tznode_type=ephemeral\tresult=success",
                session + "\t" + server
                        + "\toperation=ephemeralZNodeDeletionOnSessionCloseOrExpire\tznode=/e\tresult=success",
                server + "\toperation=serverStop\tresult=invoked");
        await().untilAsserted(() -> assertEquals(expected, lines));
        assertTrue(lines.stream().noneMatch(line -> line.contains("HASH") || line.contains("secret")));
    }

    @Test
    void aPathCannotBeginAnotherPairOrLine() throws IOException {
        try (ConclaveServer server = TestServer.start(CONFIG);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.delete("/x\nuser=root\toperation=delete\r\u2028\u0000\\t"));
            await().until(() -> lines.size() == 2);
        }
        assertTrue(
                lines.get(1)
                        .endsWith("\tznode=/x\\nuser=root\\toperation=delete\\r\\u2028\\u0000\\\\t\tresult=failure"),
                lines::toString);
    }

    @Test
    void withoutTheKeyNothingIsWritten() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/a"));
        }
        assertEquals(List.of(), lines);
    }
}
