package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Links to ends that break, refuse, stall, or speak nonsense. */
@Timeout(300)
@Isolated("counts the lines that the whole package logs")
class LinkFailureTest extends OpenedPeers {
    private static final UUID OTHER = new UUID(9, 9);

    /** An election timeout within which every test ends, for those that say themselves when half of one has passed. */
    private static final int NEVER_MS = 600_000;

    private TestPeer open(int id, UnaryOperator<PeerOptions.Builder> with) {
        return kept(TestPeer.open(TestPeer.facts(id), 0, with));
    }

    private TestPeer open(int id) {
        return open(id, options -> options);
    }

    private static PeerFacts of(UUID cluster, int id) {
        return new PeerFacts(cluster, id, 1000 + id, 1, "", 0, false);
    }

    private ServerSocket server() throws IOException {
        return kept(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    }

    private static void dials(TestPeer peer, int id, ServerSocket server) {
        peer.network.members(Map.of(id, TestPeer.member(id, server.getLocalPort())));
    }

    // ---- refusals

    @Test
    void aMemberOfAnotherClusterIsRefusedAndBothSidesLogItOnce() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            TestPeer two = kept(TestPeer.open(of(OTHER, 2), 0, options -> options.redialMs(1, 2)));
            two.dials(1, one);
            await().until(() -> !log.with("no link to member 1").isEmpty());
            await().until(() -> two.call(() -> two.network.attempts(1)) >= 20);
            String both = "member 2 belongs to cluster " + OTHER + ", member 1 to cluster " + TestPeer.CLUSTER;
            assertEquals(
                    1,
                    log.with("a connection from 127.0.0.1 is refused: " + both).size());
            assertEquals(
                    1,
                    log.with("refused: " + both).stream()
                            .filter(line -> line.startsWith("no link"))
                            .count());
            assertEquals(2, log.with("").size(), () -> log.with("").toString());
            assertEquals(List.of(), one.events());
            assertEquals(List.of(), two.events());
        }
    }

    @Test
    void aCallerLookingForAnotherMemberIsRefused() throws IOException {
        PeerHandshake.Reply reply = dial(open(1)).hello(3, TestPeer.facts(2)).receiveReply();
        assertFalse(reply.accepted());
        assertEquals("member 2 looks for member 3, but here is member 1", reply.reason());
    }

    @Test
    void aMemberIsAskedForItsClusterBeforeAnotherOneIsMadeThere() {
        EnsembleMember running =
                new EnsembleMember(1, 0, "127.0.0.1", open(1).network.port(), "", 0, false);
        assertEquals(
                Optional.of(TestPeer.facts(1).clusterId()),
                ClusterProbe.clusterOf(2, running, PeerSecrets.NONE, PeerTls.NONE));
        Map<Integer, EnsembleMember> listed =
                Map.of(1, running, 2, new EnsembleMember(2, 0, "127.0.0.1", 1, "", 0, false));
        LogException e = assertThrows(
                LogException.class,
                () -> OfflineLog.requireNoCluster(listed, 2, PeerSecrets.NONE, PeerTls.NONE, "Look."));
        assertTrue(String.valueOf(e.getMessage()).contains("belongs to cluster"), e.getMessage());
        assertTrue(String.valueOf(e.getMessage()).endsWith("so no new one is made here. Look."), e.getMessage());
        OfflineLog.requireNoCluster(listed, 1, PeerSecrets.NONE, PeerTls.NONE, "Look."); // nobody listens there
    }

    @Test
    void aCallerOfAnotherVersionIsRefusedWithBothVersions() throws IOException {
        RawPeer caller = dial(open(1));
        caller.frame(out -> {
            PeerHandshake.writeHello(out, new PeerHandshake.Hello(1, TestPeer.facts(2)));
            out.setInt(out.readerIndex() + 4 + 8, 7);
        });
        String reason = caller.receiveReply().reason();
        assertTrue(reason.contains("versions 2 and 3 ") && reason.endsWith("version 7"), reason);
        caller.drain();
    }

    @Test
    void anAnswerOfAnotherMemberOrVersionMakesNoLink() throws IOException {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            ServerSocket server = server();
            dials(one, 2, server);
            RawPeer called = accept(server);
            assertEquals(new PeerHandshake.Hello(2, TestPeer.facts(1)), called.receiveHello());
            called.accepts(TestPeer.facts(3)).drain();
            await().until(() ->
                    log.with("member 2 is expected there, but member 3 answers").size() == 1);
            RawPeer again = accept(server);
            again.receiveHello();
            again.frame(out -> {
                PeerHandshake.writeReply(out, new PeerHandshake.Reply(true, ""), TestPeer.facts(2));
                out.setInt(out.readerIndex() + 4 + 8, 7);
            });
            again.drain();
            await().until(() -> log.with("version 7").size() == 1);
            assertEquals(List.of(), one.events());
        }
    }

    @Test
    void anEmptyDirectoryThatJoinsKeepsItsLinkToTheClusterWhoseMembersAskItAgain() {
        TestPeer one = open(1);
        TestPeer two = kept(TestPeer.open(of(PeerFacts.NO_CLUSTER, 2), 0, options -> options));
        one.dials(2, two);
        two.dials(1, one);
        one.awaitEvent("linked 2");
        two.awaitEvent("linked 1");
        PeerFacts joined = new PeerFacts(TestPeer.CLUSTER, 2, 77, 1, "", 0, false);
        two.network.identify(joined);
        assertTrue(two.send(1, message(1)));
        one.awaitEvent(message(1));
        one.awaitEvent(joined);
        assertEquals(1, one.count("down 2"));
        assertEquals(0, two.count("down 1"));
    }

    @Test
    void factsSetBeforeTheNetworkOpensAreSentToOtherMembers() {
        TestPeer one = open(1);
        PeerFacts recovered = new PeerFacts(TestPeer.CLUSTER, 2, 77, 1, "", 0, false);
        TestPeer two = kept(TestPeer.create(options -> options));
        two.network.identify(recovered);
        two.network.open(of(PeerFacts.NO_CLUSTER, 2), two);
        one.dials(2, two);
        one.awaitEvent(recovered);
    }

    @Test
    void anEmptyDirectoryIsLetGoWhenItJoinsAnotherCluster() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            TestPeer two = kept(TestPeer.open(of(PeerFacts.NO_CLUSTER, 2), 0, options -> options));
            one.dials(2, two);
            two.dials(1, one);
            one.awaitEvent("linked 2");
            two.awaitEvent("linked 1");
            two.network.identify(of(OTHER, 2));
            two.awaitEvent("down 1");
            one.awaitEvent("lost 2");
            one.awaitEvent("down 2");
            await().until(() -> !log.with("no link to member 1").isEmpty()
                    && !log.with("no link to member 2").isEmpty());
        }
    }

    @Test
    void twoEmptyDirectoriesThatJoinDifferentClustersDoNotStayLinked() {
        TestPeer one = kept(TestPeer.open(of(PeerFacts.NO_CLUSTER, 1), 0, options -> options));
        TestPeer two = kept(TestPeer.open(of(PeerFacts.NO_CLUSTER, 2), 0, options -> options));
        one.dials(2, two);
        one.awaitEvent("linked 2");
        one.network.identify(of(TestPeer.CLUSTER, 1));
        await().until(() -> one.count("linked 2") == 2);
        two.network.identify(of(OTHER, 2));
        await().until(() -> one.count("down 2") == 2);
        await().until(() -> two.count("lost 1") == 2);
        assertFalse(one.send(2, message(1)));
    }

    // ---- nonsense

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: conclave\r\n\r\n",
                "\u0000\u0000\u0000\u0008ABCDEFGH",
                "\u0000\u0000\u0000\u0001A",
                "\u0080\u0000\u0000\u0000"
            })
    void connectionsThatAreNoPeersAreClosedAndLoggedOnce(String nonsense) throws IOException {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            for (int i = 0; i < 3; i++) {
                RawPeer stranger = dial(one);
                stranger.send(nonsense.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
                assertEquals(0, stranger.drain());
            }
            await().until(() -> !log.with("").isEmpty());
            assertEquals(
                    1,
                    log.with("it sent a frame that this member does not understand")
                            .size());
            assertEquals(List.of(), one.events());
        }
    }

    @Test
    void randomBytesBehindAHandshakeEndTheLinkOnly() throws IOException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        TestPeer one = open(1, options -> options.electionTimeoutMs(NEVER_MS));
        for (int i = 0; i < 50; i++) {
            RawPeer peer = dial(one).hello(1, TestPeer.facts(2));
            assertTrue(peer.receiveReply().accepted(), "seed " + seed);
            byte[] bytes = new byte[1 + random.nextInt(200)];
            random.nextBytes(bytes);
            bytes[0] = (byte) 0xff;
            peer.send(bytes);
            if (bytes.length < Integer.BYTES) { // a frame that never ends
                int links = i + 1;
                await().until(() -> {
                    one.tick();
                    return one.count("lost 2") == links;
                });
            }
            peer.drain();
        }
        await().until(() -> one.count("lost 2") == 50);
        assertEquals(List.of(), one.messages());
    }

    @Test
    void aMessageThatIsUnknownEndsTheLinkWithALineInTheLog() throws IOException {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            RawPeer peer = dial(one).hello(1, TestPeer.facts(2));
            peer.receiveReply();
            peer.message(message(1)).frame(out -> out.writeByte(99)).message(message(2));
            peer.drain();
            one.awaitEvent("lost 2");
            assertEquals(List.of(message(1)), one.messages());
            assertEquals(
                    1, log.with("message type 99 is unknown to this version").size());
        }
    }

    @Test
    void aFrameBeyondTheBoundEndsTheLink() throws IOException {
        TestPeer one = open(1, options -> options.maxFrameBytes(2 << 20));
        RawPeer peer = dial(one).hello(1, TestPeer.facts(2));
        peer.receiveReply();
        peer.send((byte) 0, (byte) 0x20, (byte) 0, (byte) 1).drain();
        one.awaitEvent("lost 2");
    }

    @Test
    void aMessageBeyondTheBoundIsTheSendersMistake() {
        TestPeer one = open(1, options -> options.maxFrameBytes(2 << 20));
        TestPeer two = open(2);
        one.dials(2, two);
        one.awaitEvent("linked 2");
        PeerMessage tooLong = new SnapshotChunk(1, 1, 1, 1, 0, new byte[2 << 20]);
        Throwable thrown = assertThrows(RuntimeException.class, () -> one.send(2, tooLong));
        assertTrue(String.valueOf(thrown).contains("longer than maxFrameBytes 2097152"), String.valueOf(thrown));
        assertTrue(one.send(2, message(1)), "the link is as it was");
        two.awaitEvent(message(1));
    }

    // ---- broken and silent links

    @Test
    void aLinkThatBreaksInTheMiddleHasDeliveredAPrefix() throws IOException {
        TestPeer one = open(1);
        int rounds = 20;
        Random random = new Random(3);
        for (int round = 0; round < rounds; round++) {
            RawPeer peer = dial(one).hello(1, TestPeer.facts(2));
            assertTrue(peer.receiveReply().accepted());
            int count = 100 + random.nextInt(400);
            for (int i = 0; i < count; i++) {
                peer.message(message(i));
            }
            byte[] half = RawPeer.frameOf(out -> MessageCodec.write(out, message(count)));
            peer.send(java.util.Arrays.copyOf(half, 1 + random.nextInt(half.length - 1)));
            peer.close();
            one.awaitEvent("lost 2");
            List<PeerMessage> came = one.messages();
            assertEquals(
                    LongStream.range(0, came.size())
                            .mapToObj(LinkFailureTest::message)
                            .toList(),
                    came);
            one.forget();
        }
    }

    @Test
    void aNewerLinkTakesThePlaceOfTheOlder() throws IOException {
        TestPeer one = open(1);
        RawPeer older = dial(one).hello(1, TestPeer.facts(2));
        older.receiveReply();
        older.message(message(1));
        one.awaitEvent(message(1));
        RawPeer newer = dial(one).hello(1, TestPeer.facts(2));
        newer.receiveReply();
        newer.message(message(2));
        one.awaitEvent(message(2));
        older.drain();
        List<Object> told =
                one.events().stream().filter(event -> !event.equals("turn")).toList();
        assertEquals(List.of(message(1), "lost 2", message(2)), told);
        newer.close();
        await().until(() -> one.count("lost 2") == 2);
    }

    @Test
    void aSilentLinkIsClosedInBothDirections() throws IOException {
        TestPeer one = open(1, options -> options.electionTimeoutMs(NEVER_MS));
        RawPeer called = called(one);
        RawPeer caller = caller(one);
        passSilence(one);
        one.awaitEvent("down 2");
        one.awaitEvent("lost 2");
        assertTrue(called.drain() > 0, "keepalives came on it");
        assertTrue(caller.drain() > 0, "keepalives came on it");
    }

    /** Three election timeouts, behind the half of one in which the handshake is heard. */
    private static void passSilence(TestPeer one) {
        for (int i = 0; i < FrameChannel.SILENT_TICKS + 2; i++) {
            one.tick();
        }
    }

    private RawPeer called(TestPeer one) throws IOException {
        ServerSocket server = server();
        dials(one, 2, server);
        RawPeer called = accept(server);
        called.receiveHello();
        called.accepts(TestPeer.facts(2));
        one.awaitEvent("linked 2");
        return called;
    }

    private RawPeer caller(TestPeer one) throws IOException {
        RawPeer caller = dial(one).hello(1, TestPeer.facts(2));
        assertTrue(caller.receiveReply().accepted());
        return caller;
    }

    /** Each end says something in each half of an election timeout, and that is enough for the other one. */
    @Test
    void aLinkWithNothingToSayStaysOpen() throws IOException {
        TestPeer one = open(1, options -> options.electionTimeoutMs(NEVER_MS));
        List<RawPeer> ends = List.of(called(one), caller(one));
        one.tick(); // the handshake was something to say
        for (int i = 0; i < 4 * FrameChannel.SILENT_TICKS; i++) {
            one.tick();
            for (RawPeer end : ends) {
                assertEquals(0, end.in.readInt(), "a keepalive");
                end.send(new byte[Integer.BYTES]);
            }
        }
        assertEquals(0, one.count("down 2"));
        assertEquals(0, one.count("lost 2"));
    }

    @Test
    void aCallerWithoutAHelloIsCutOff() throws IOException {
        TestPeer one = open(1, options -> options.electionTimeoutMs(60));
        assertEquals(0, dial(one).drain());
    }

    @Test
    void aMemberThatDoesNotReadCostsNoMoreThanTheBound() throws IOException {
        TestPeer one = open(1, options -> options.maxFrameBytes(2 << 20).maxBacklogBytes(8 << 20));
        ServerSocket server = server();
        dials(one, 2, server);
        RawPeer slow = accept(server);
        slow.receiveHello();
        slow.accepts(TestPeer.facts(2));
        one.awaitEvent("linked 2");
        byte[] megabyte = new byte[1 << 20];
        int sent = 0;
        while (one.send(2, new SnapshotChunk(1, sent, 1, 1, 0, megabyte))) {
            sent++;
            assertTrue(sent < 200, "the backlog has no bound");
        }
        assertTrue(sent >= 7, "only " + sent + " megabytes fit into a backlog of 8");
        one.awaitEvent("down 2");
        assertTrue(slow.drain() < sent * (1L << 20), "what was not read is lost");
        RawPeer again = accept(server);
        again.receiveHello();
        again.accepts(TestPeer.facts(2));
        await().until(() -> one.count("linked 2") == 2);
        assertTrue(one.send(2, message(1)));
        ByteBuf frame = again.receive();
        assertEquals(message(1), MessageCodec.read(frame));
    }

    // ---- addresses

    @Test
    void membersThatGoAreLetGoAndOthersAreDialledAtTheirNewAddress() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        TestPeer moved = kept(TestPeer.open(TestPeer.facts(2), 0, options -> options));
        one.dials(2, two);
        one.awaitEvent("linked 2");
        one.dials(2, moved);
        one.awaitEvent("down 2");
        await().until(() -> one.count("linked 2") == 2);
        assertTrue(one.send(2, message(1)));
        moved.awaitEvent(message(1));
        assertEquals(List.of(), two.messages());
        one.network.members(Map.of());
        await().until(() -> one.count("down 2") == 2);
        moved.awaitEvent("lost 1");
    }

    @Test
    void anotherAddressCanBeDialledInstead() {
        TestPeer two = open(2);
        TestPeer one = open(
                1, options -> options.dialInstead(Map.of(2, new InetSocketAddress("127.0.0.1", two.network.port()))));
        one.network.members(Map.of(2, TestPeer.member(2, 1)));
        one.awaitEvent("linked 2");
    }

    @Test
    void aHostNameIsLookedUpAndAnUnknownOneIsNamed() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1);
            TestPeer two = open(2);
            one.network.members(Map.of(
                    2,
                            new io.conclave.consensus.entry.EnsembleMember(
                                    2, 0, "localhost", two.network.port(), "", 0, false),
                    3, new io.conclave.consensus.entry.EnsembleMember(3, 0, "no such host", 1, "", 0, false)));
            one.awaitEvent("linked 2");
            await().until(() -> !log.with("its host name is unknown").isEmpty());
            assertTrue(log.with("no such host").get(0).startsWith("no link to member 3"));
        }
    }

    // ---- the end

    @Test
    void closingEndsSoonAndNoEventFollows() {
        TestPeer one = open(1);
        TestPeer two = open(2);
        one.dials(2, two);
        two.dials(1, one);
        one.awaitEvent("linked 2");
        two.awaitEvent("linked 1");
        Throwable inside = one.call(() -> assertThrows(IllegalStateException.class, one.network::close));
        assertTrue(String.valueOf(inside.getMessage()).contains("own thread"));
        one.close();
        List<Object> told = one.events();
        two.awaitEvent("down 1");
        two.awaitEvent("lost 1");
        one.network.execute(() -> one.turnEnd());
        assertEquals(told, one.events());
    }

    @Test
    void onlyTheThreadOfTheNetworkMaySend() {
        TestPeer one = open(1);
        assertThrows(IllegalStateException.class, () -> one.network.send(2, message(1)));
        assertThrows(IllegalStateException.class, () -> one.network.flush());
    }
}
