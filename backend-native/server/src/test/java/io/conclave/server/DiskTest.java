package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ConnectResponse;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
    private static final ServerConfig CONFIG =
            TestServer.config().segmentBytes(8 << 20).build();

    @TempDir
    private Path directory;

    @Test
    void acknowledgedWritesAndSessionsSurviveARestart() throws IOException {
        ServerConfig config =
                TestServer.config().dataDirectory(Optional.of(directory)).build();
        ConnectResponse session;
        long zxid;
        long generation;
        try (ConclaveServer server = TestServer.start(config);
                RawClient client = new RawClient(TestServer.port(server))) {
            session = client.connect(30_000);
            client.call(Requests.create("/kept"));
            client.call(Requests.create("/e", CreateFlag.EPHEMERAL));
            client.call(Requests.create("/s-", CreateFlag.PERSISTENT_SEQUENTIAL));
            zxid = client.call(Requests.set("/kept", "last")).header().zxid();
            generation = server.state().generation();
        }
        try (ConclaveServer server = TestServer.start(config);
                RawClient client = new RawClient(TestServer.port(server))) {
            assertEquals(generation, server.state().generation());
            assertEquals(
                    session.sessionId(),
                    client.connect(new ConnectRequest(
                                    0, zxid, 30_000, session.sessionId(), session.password(), false, true))
                            .sessionId());
            assertArrayEquals(
                    Requests.bytes("last"),
                    client.call(Requests.get("/kept"), ReplyBody.GetData.class).data());
            assertEquals(0, client.call(Requests.exists("/e")).header().err());
            assertTrue(client.call(Requests.set("/kept", "x")).header().zxid() > zxid);
            assertEquals(
                    "/s-0000000003",
                    client.call(Requests.create("/s-", CreateFlag.PERSISTENT_SEQUENTIAL), ReplyBody.Create.class)
                            .path());
            assertEquals(0, client.call(Requests.closeSession()).header().err());
        }
        try (ConclaveServer server = TestServer.start(config);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertEquals(-101, client.call(Requests.exists("/e")).header().err());
        }
    }

    @Test
    void snapshotsAreTakenWhileWritingGoesOnAndAreEnoughToStartFrom() throws IOException {
        ServerConfig config = TestServer.config()
                .dataDirectory(Optional.of(directory))
                .snapshotEveryEntries(100)
                .build();
        try (ConclaveServer server = TestServer.start(config);
                RawClient client = RawClient.attached(TestServer.port(server), 30_000)) {
            for (int i = 0; i < 300; i++) {
                client.call(Requests.create("/n" + i));
            }
        }
        try (ConclaveServer server = TestServer.start(config)) {
            assertEquals(304, server.state().nodeCount());
        }
    }

    @Test
    void aServerInMemoryHasALargerGenerationAtEachStart() {
        long first;
        try (ConclaveServer server = TestServer.start()) {
            first = server.state().generation();
        }
        await().pollInSameThread().until(() -> System.currentTimeMillis() > first);
        try (ConclaveServer server = TestServer.start()) {
            assertTrue(server.state().generation() > first);
        }
    }

    @Test
    void aSecondServerOnTheSameDirectoryIsRefused() {
        ServerConfig config =
                TestServer.config().dataDirectory(Optional.of(directory)).build();
        try (ConclaveServer server = TestServer.start(config)) {
            LogException refused = assertThrows(LogException.class, () -> TestServer.start(config));
            assertTrue(refused.getMessage().contains(directory.toString()), refused.getMessage());
        }
    }

    @Test
    void onAFullDiskWritesAreRefusedReadsGoOnAndRoomHealsItWithoutALostWrite() throws IOException {
        LockedDisk disk = new LockedDisk(new SimulatedDisk(1));
        int acknowledged = 0;
        try (ConclaveServer server = TestServer.start(CONFIG, disk, new CompletableFuture<>());
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/n"));
            disk.with(files -> files.capacity(files.used()));
            while (client.call(new RequestBody.SetData("/n", new byte[200_000], -1))
                            .header()
                            .err()
                    == 0) {
                acknowledged++;
            }
            assertEquals(
                    -119,
                    client.call(new RequestBody.SetData("/n", new byte[200_000], -1))
                            .header()
                            .err());
            assertEquals(
                    acknowledged,
                    client.call(Requests.get("/n"), ReplyBody.GetData.class)
                            .stat()
                            .version());
            try (RawClient newcomer = new RawClient(TestServer.port(server))) {
                newcomer.sendConnect(5000);
                assertTrue(
                        newcomer.isClosedByServer(), "no session can be opened, and a closed connection tries again");
            }
            disk.with(files -> files.capacity(Long.MAX_VALUE));
            await().atMost(Duration.ofMinutes(1))
                    .until(() ->
                            client.call(Requests.set("/n", "healed")).header().err() == 0);
            acknowledged++;
        }
        try (ConclaveServer server = TestServer.start(CONFIG, disk, new CompletableFuture<>());
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            ReplyBody.GetData data = client.call(Requests.get("/n"), ReplyBody.GetData.class);
            assertEquals(acknowledged, data.stat().version());
            assertArrayEquals(Requests.bytes("healed"), data.data());
        }
    }

    @Test
    void aDiskErrorEndsTheServerAndIsReportedToItsOwner() throws Exception {
        LockedDisk disk = new LockedDisk(new SimulatedDisk(2));
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        try (ConclaveServer server = TestServer.start(CONFIG, disk, failure);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/n"));
            disk.with(files -> files.breakSyncs(segmentPrefix(files)));
            client.send(Requests.set("/n", "x"));
            assertTrue(client.isClosedByServer(), "an unknown outcome is not answered");
            assertTrue(failure.get(120, TimeUnit.SECONDS) instanceof LogException);
        }
    }

    @Test
    void aServerWhoseStateIsNotThatOfTheOthersPutsItsLogAwayAndTellsItsOwner() throws Exception {
        ServerConfig config =
                TestServer.config().dataDirectory(Optional.of(directory)).build();
        CompletableFuture<LogException> failure = new CompletableFuture<>();
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), failure::complete);
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            assertTrue(Files.exists(directory.resolve("identity")));
            server.stateIsWrong("the state of this member is not that of the others");
            assertTrue(client.isClosedByServer());
            String message = failure.get(120, TimeUnit.SECONDS).getMessage();
            assertTrue(message.contains("not that of the others") && message.contains("was set aside"), message);
            assertFalse(Files.exists(directory.resolve("identity")));
        }
    }

    @Test
    void aLogThatIsInUseIsPutAwayByTheNextStart() throws Exception {
        ServerConfig config =
                TestServer.config().dataDirectory(Optional.of(directory)).build();
        CompletableFuture<LogException> failure = new CompletableFuture<>();
        try (ConclaveServer server = ConclaveServer.start(config, TimeSource.system(), failure::complete)) {
            new FatalFailures(Optional.of(directory), failure::complete).stateIsWrong("it is wrong", () -> {});
            String message = failure.get(120, TimeUnit.SECONDS).getMessage();
            assertTrue(message.contains("Its log is set aside by the next start."), message);
            assertTrue(server.isServing());
        }
        LogException alone = assertThrows(
                LogException.class, () -> ConclaveServer.start(config, TimeSource.system(), failure::complete));
        assertTrue(alone.getMessage().contains("was set aside"), alone::toString);
        assertTrue(Files.exists(directory.resolve("set-aside-1-identity")));
    }

    private static String segmentPrefix(SimulatedDisk disk) {
        return disk.list().stream()
                .filter(name -> name.startsWith("log") || name.startsWith("seg"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no segment among " + disk.list()))
                .substring(0, 3);
    }
}
