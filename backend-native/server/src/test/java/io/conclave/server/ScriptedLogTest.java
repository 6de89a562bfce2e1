package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LogException;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.protocol.ConnectRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.Frames;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.Xid;
import io.conclave.replica.Replica;
import io.conclave.time.TimeSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What connections do when the log behaves as it seldom does. */
@Timeout(300)
class ScriptedLogTest {
    private static final RequestBody JOINING =
            new RequestBody.Reconfig("server.2=localhost:1:participant", "", null, -1);

    private final ScriptedLog log = new ScriptedLog();

    @TempDir
    Path home;

    private ConclaveServer server;

    @BeforeEach
    void start() {
        ServerConfig config = TestServer.config()
                .homeDirectory(Optional.of(home))
                .readOnlyMode(true)
                .commandWhitelist(Set.of("srvr", "mntr"))
                .eventLoops(1)
                .build();
        server = ConclaveServer.start(config, (options, loop) -> log, TimeSource.system(), cause -> {});
        server.serving().toCompletableFuture().join();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void aNoteOfALaterVersionIsNotTakenAsUnderstood() {
        byte[] note = new HeartbeatNote(3, new long[] {1, 2}).encode();
        assertTrue(log.noted(2, note));
        note[0] = 77;
        assertFalse(log.noted(2, note), "else its sender would answer pings of which the leader knows nothing");
    }

    private int port() {
        return TestServer.port(server);
    }

    /** Its own read would show its own later write. */
    @Test
    void nothingBehindAChangeOfTheMembersIsDoneBeforeThatIsAnswered() throws IOException {
        try (RawClient client = superUser();
                RawClient other = RawClient.attached(port(), 30_000)) {
            client.call(Requests.create("/n"));
            client.send(JOINING, Requests.get("/n"), Requests.set("/n", "later"), Requests.closeSession());
            // on the same loop and the same log, so both have come to what was sent
            other.call(Requests.create("/a"));
            other.call(Requests.create("/b"));
            log.membershipChange.complete(1L);
            assertEquals(0, client.read().header().err());
            ReplyBody.GetData read = (ReplyBody.GetData) client.read().body().orElseThrow();
            assertEquals(0, read.stat().version());
            assertEquals(0, client.read().header().err());
            assertEquals(0, client.read().header().err());
            assertTrue(client.isClosedByServer());
        }
    }

    @Test
    void pingsAreAnsweredWhileAChangeOfTheMembersIsUnderWay() throws IOException {
        try (RawClient client = superUser()) {
            client.send(JOINING);
            assertEquals(Xid.PING, client.call(Requests.ping()).header().xid());
            log.membershipChange.complete(1L);
            assertEquals(0, client.read().header().err());
        }
    }

    @Test
    void connectionEndsWhenItIsNotKnownWhetherTheMembersWereChanged() throws IOException {
        log.membershipChange.completeExceptionally(new ChangeOutcomeUnknownException("deposed meanwhile"));
        try (RawClient client = superUser()) {
            client.send(JOINING);
            assertTrue(client.isClosedByServer(), "an error code would say that they were not changed");
        }
    }

    @Test
    void refusedChangeOfTheMembersIsAnsweredWithAnError() throws IOException {
        log.membershipChange.completeExceptionally(new LogException("a reason"));
        try (RawClient client = superUser()) {
            assertEquals(
                    ErrorCode.RECONFIG_IN_PROGRESS.code(),
                    client.call(JOINING).header().err());
        }
    }

    private RawClient superUser() throws IOException {
        RawClient client = RawClient.attached(port(), 30_000);
        assertEquals(
                0,
                client.call(Requests.digest("super:" + AdminSecret.read(home)))
                        .header()
                        .err());
        return client;
    }

    @Test
    void readerIsSentAwayWhenASnapshotReplacesTheStateThatItHasSeen() throws IOException {
        try (RawClient writer = RawClient.attached(port(), 30_000)) {
            writer.call(Requests.create("/a"));
        }
        log.serve(false);
        Awaitility.await().until(() -> FourLetterWordsTest.ask(port(), "isro").equals("ro"));
        try (RawClient reader = new RawClient(port())) {
            reader.connect(new ConnectRequest(0, 0, 30_000, 0, new byte[16], true, true));
            reader.call(Requests.getAndWatch("/a"));
            log.installSnapshot();
            assertTrue(reader.isClosedByServer(), "its watch may have missed something");
        }
    }

    /** What it would go on showing gets older and older, and no client is told. */
    @Test
    void serverThatWasRemovedServesNoReadsEither() {
        log.configure(members(1, 2));
        log.serve(false);
        awaitReadOnly("ro");
        log.configure(members(2));
        awaitReadOnly("null");

        log.configure(members(1, 2));
        log.serve(true);
        awaitReadOnly("rw");
        log.configure(members(2));
        log.serve(false);
        awaitReadOnly("null");
    }

    /** It is an old state, or not the one of the cluster, so it is none to read from while there is no leader. */
    @Test
    void aStateThatMayBeWrongIsNotServedReadOnlyEither() {
        log.serve(false);
        awaitReadOnly("ro");
        log.execute(log::suspend);
        awaitReadOnly("null");
    }

    private void awaitReadOnly(String answer) {
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> FourLetterWordsTest.ask(port(), "isro")
                .equals(answer));
    }

    private static ClusterConfiguration members(Integer... ids) {
        Map<Integer, EnsembleMember> members = new HashMap<>();
        for (int id : ids) {
            members.put(id, new EnsembleMember(id, 0, "host-" + id, 1, "", 0, false));
        }
        return new ClusterConfiguration(members, Set.of(ids), Set.of());
    }

    @Test
    void noClientSeesAnEmptyTreeWhileASnapshotIsRead() throws IOException {
        try (RawClient writer = RawClient.attached(port(), 30_000)) {
            writer.call(Requests.create("/a"));
        }
        log.serve(false);
        Awaitility.await().until(() -> FourLetterWordsTest.ask(port(), "isro").equals("ro"));
        try (RawClient reader = new RawClient(port())) {
            reader.connect(new ConnectRequest(0, 0, 30_000, 0, new byte[16], true, true));
            log.beginSnapshot();
            assertTrue(reader.isClosedByServer(), "it would read from nothing");
        }
        log.serve(true);
        log.serve(false);
        assertEquals("null", FourLetterWordsTest.ask(port(), "isro"));
        assertTrue(FourLetterWordsTest.ask(port(), "srvr").contains("Reading the state of a snapshot"));
        assertTrue(FourLetterWordsTest.ask(port(), "mntr").contains("zk_conclave_reading_state\t1"));
        try (RawClient refused = new RawClient(port())) {
            assertThrows(
                    IOException.class,
                    () -> refused.connect(new ConnectRequest(0, 0, 30_000, 0, new byte[16], true, true)));
        }
        log.endSnapshot();
        Awaitility.await().until(() -> FourLetterWordsTest.ask(port(), "isro").equals("ro"));
        try (RawClient reader = new RawClient(port())) {
            reader.connect(new ConnectRequest(0, 0, 30_000, 0, new byte[16], true, true));
            reader.call(Requests.getAndWatch("/a"));
        }
    }

    @Test
    void pingsThatCannotBeAnsweredAreNotReadWithoutBound() throws IOException {
        try (RawClient client = RawClient.attached(port(), 30_000)) {
            log.answersReadIndexes = false;
            ByteBuf some = Unpooled.buffer();
            for (int i = 0; i < 10_000; i++) {
                Frames.writeRequest(some, Xid.PING, Requests.ping());
            }
            client.write(some);
            client.send(Requests.exists("/"));
            client.socket().setSoTimeout(500);
            assertThrows(SocketTimeoutException.class, client::read, "it stands behind the pings");
            assertFalse(client.socket().isClosed());
        }
    }

    @Test
    void oldMemberEndsRatherThanApplyWhatItDoesNotUnderstand() {
        Replica replica = new Replica(1);
        byte[] level = ByteBuffer.allocate(Integer.BYTES).putInt(2).array();
        CommittedEntry raised = new CommittedEntry(LogEntryKind.FEATURE_LEVEL, level, null);
        CommittedBatch batch = new CommittedBatch(1, 1, 1, 1, List.of(raised));
        assertThrows(LogException.class, () -> replica.apply(batch));
    }
}
