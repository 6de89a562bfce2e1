package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.entry.EnsembleMember;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Links whose ends prove that they have the cluster's secret, and callers that cannot. */
@Timeout(180)
@Isolated("counts the lines that the whole package logs")
class ProvenLinkTest {
    private static final byte[] A = secret(1);
    private static final byte[] B = secret(2);
    private static final byte[] C = secret(3);
    private static final PeerSecrets HAS_A = required(A);

    private final List<AutoCloseable> opened = new ArrayList<>();

    private static byte[] secret(int fill) {
        byte[] bytes = new byte[PeerSecrets.LEAST_BYTES];
        Arrays.fill(bytes, (byte) fill);
        return bytes;
    }

    private static PeerSecrets required(byte[]... secrets) {
        return PeerSecrets.of(PeerAuthentication.REQUIRED, List.of(secrets));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T kept(T one) {
        opened.add(one);
        return one;
    }

    private TestPeer open(PeerFacts facts, PeerSecrets secrets, UnaryOperator<PeerOptions.Builder> with) {
        return kept(TestPeer.open(
                facts, 0, options -> with.apply(options.secrets(() -> secrets).tls(tls()))));
    }

    private TestPeer open(int id, PeerSecrets secrets) {
        return open(TestPeer.facts(id), secrets, options -> options.redialMs(1, 5));
    }

    PeerTls tls() {
        return PeerTls.NONE;
    }

    /** What a connection of a raw peer uses. */
    Socket over(Socket plain, boolean calls) throws IOException {
        return plain;
    }

    private RawPeer dial(int port) throws IOException {
        return new RawPeer(over(RawPeer.connect(port), true), true);
    }

    private RawPeer accept(ServerSocket server) throws IOException {
        return new RawPeer(over(server.accept(), false), false);
    }

    private RawPeer dial(TestPeer peer) throws IOException {
        return kept(dial(peer.network.port()));
    }

    private static PeerMessage message(long number) {
        return new ReadIndexReply(1, number, 0);
    }

    private static PeerFacts of(int id, long directory) {
        return new PeerFacts(TestPeer.CLUSTER, id, directory, 1, "", 0, false);
    }

    // ---- members

    @Test
    void membersThatHaveTheSecretAreLinkedInBothDirections() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, HAS_A);
            TestPeer two = open(2, HAS_A);
            one.dials(2, two);
            two.dials(1, one);
            one.awaitEvent(TestPeer.facts(2));
            two.awaitEvent(TestPeer.facts(1));
            assertTrue(one.send(2, message(1)));
            assertTrue(two.send(1, message(2)));
            two.awaitEvent(message(1));
            one.awaitEvent(message(2));
            assertEquals(2, log.with("is linked at").size());
            assertEquals(0, log.with("unproven").size());
        }
    }

    /** What a member has, and what the other one has; each order counts, since either may be restarted first. */
    @ParameterizedTest
    @CsvSource({"A, AB", "A, BA", "AB, A", "BA, A", "AB, BA", "BA, AB", "AB, AB", "BC, AB"})
    void membersWithOneSecretInCommonAreLinkedWhileItIsReplaced(String has, String hasOther) {
        TestPeer one = open(1, named(has));
        TestPeer two = open(2, named(hasOther));
        one.dials(2, two);
        one.awaitEvent("linked 2");
        assertTrue(one.send(2, message(1)));
        two.awaitEvent(message(1));
    }

    private static PeerSecrets named(String names) {
        return required(names.chars().mapToObj(name -> secret(name - 'A' + 1)).toArray(byte[][]::new));
    }

    @Test
    void membersWithDifferentSecretsAreNotLinkedAndBothSayWhatToCompare() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, HAS_A);
            TestPeer two = open(2, required(B, C));
            two.dials(1, one);
            await().until(() -> two.call(() -> two.network.attempts(1)) >= 20);
            String said = "no link to member 1";
            assertEquals(1, log.with(said).size(), () -> log.with("").toString());
            assertTrue(
                    log.with(said)
                            .get(0)
                            .endsWith("it has not proven that it has the cluster secret of this member; compare their"
                                    + " secret files"),
                    log.with(said).get(0));
            await().until(() -> log.with("before member 2 had proven that it has the cluster's secret")
                            .size()
                    == 1);
            assertEquals(List.of(), one.events());
            assertEquals(List.of(), two.events());
            assertNoSecretIn(log.with(""));
        }
    }

    private static void assertNoSecretIn(List<String> lines) {
        for (byte[] secret : List.of(A, B, C)) {
            String hex = ByteBufUtil.hexDump(secret);
            String base64 = java.util.Base64.getEncoder().encodeToString(secret);
            assertTrue(lines.stream().noneMatch(line -> line.contains(hex) || line.contains(base64)), lines::toString);
        }
        assertEquals("REQUIRED with 1 secrets", HAS_A.toString());
    }

    @Test
    void aMemberWithoutASecretIsToldWhatItLacks() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, HAS_A);
            TestPeer two = open(2, PeerSecrets.NONE);
            two.dials(1, one);
            one.dials(2, two);
            await().until(() -> log.with("no link to member").size() >= 2);
            assertEquals(
                    1,
                    log.with("no link to member 1").stream()
                            .filter(line -> line.contains("member 1 takes only members that prove that they have the"
                                    + " cluster's secret; give the caller the secret file"))
                            .count());
            assertEquals(
                    1,
                    log.with("no link to member 2").stream()
                            .filter(line -> line.contains("member 2 has no cluster secret (peerAuthentication=none)"))
                            .count());
            assertEquals(List.of(), one.events());
            assertEquals(List.of(), two.events());
        }
    }

    /** The way of a running ensemble to a secret, and back: none, optional, required. */
    @ParameterizedTest
    @CsvSource({
        "NONE, OPTIONAL, true",
        "OPTIONAL, NONE, true",
        "OPTIONAL, OPTIONAL, false",
        "OPTIONAL, REQUIRED, false",
        "REQUIRED, OPTIONAL, false"
    })
    void aMemberToWhichProofsAreOptionalIsLinkedWithAllOthers(
            PeerAuthentication one, PeerAuthentication other, boolean unproven) {
        try (LogLines log = new LogLines()) {
            TestPeer first = open(1, PeerSecrets.of(one, List.of(A)));
            TestPeer second = open(2, PeerSecrets.of(other, List.of(A)));
            first.dials(2, second);
            first.awaitEvent("linked 2");
            assertTrue(first.send(2, message(1)));
            second.awaitEvent(message(1));
            await().until(() -> log.with("is linked at").size() == 1);
            assertEquals(unproven ? 1 : 0, log.with(", unproven").size());
        }
    }

    @Test
    void aMemberToWhichProofsAreOptionalGoesWithTheOtherOneWhenThatHasItsSecret() {
        TestPeer one = open(1, PeerSecrets.of(PeerAuthentication.OPTIONAL, List.of(A)));
        TestPeer without = open(2, PeerSecrets.NONE);
        int port = without.network.port();
        one.dials(2, without);
        one.awaitEvent("linked 2");
        without.close();
        one.awaitEvent("down 2");
        TestPeer with = kept(TestPeer.open(
                TestPeer.facts(2), port, options -> options.secrets(() -> HAS_A).tls(tls())));
        await().until(() -> one.count("linked 2") == 2);
        assertTrue(one.send(2, message(7)));
        with.awaitEvent(message(7));
    }

    // ---- strangers

    @Test
    void aStrangerIsToldNothing() throws IOException {
        TestPeer one = open(1, HAS_A);
        byte[] cluster = ByteBuffer.allocate(16)
                .putLong(TestPeer.CLUSTER.getMostSignificantBits())
                .putLong(TestPeer.CLUSTER.getLeastSignificantBits())
                .array();
        RawPeer plain = dial(one).hello(1, TestPeer.facts(2));
        ByteBuf refusal = plain.receive();
        assertEquals(-1, ByteBufUtil.indexOf(Unpooled.wrappedBuffer(cluster), refusal));
        PeerHandshake.readVersion(refusal);
        assertFalse(PeerHandshake.readReply(refusal).accepted());
        assertFalse(refusal.isReadable());

        RawPeer guesser = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, RawPeer.nonce())));
        ByteBuf challenge = guesser.receive();
        assertEquals(-1, ByteBufUtil.indexOf(Unpooled.wrappedBuffer(cluster), challenge));
        guesser.frame(out -> ProvenHandshake.writeAnswer(out, new byte[32], TestPeer.facts(2)));
        PeerHandshake.Reply reply = guesser.receiveReply();
        assertEquals(
                "member 2 has not proven that it has the cluster secret of member 1; compare their secret files",
                reply.reason());
        assertEquals(0, guesser.drain());
        assertEquals(List.of(), one.events());
    }

    /** It has recorded whole conversations, and says again what the caller said. */
    @Test
    void aRecordedHandshakeIsOfNoUse() throws IOException {
        TestPeer one = open(1, HAS_A);
        CallersProof proof = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer member = dial(one).frame(proof::writeHello);
        ByteBuf challenge = member.receive();
        PeerHandshake.readVersion(challenge);
        PeerHandshake.readReply(challenge);
        assertTrue(proof.knows(challenge, dial(one).binding()));
        byte[] hello = RawPeer.frameOf(proof::writeHello);
        byte[] answer = RawPeer.frameOf(out -> proof.writeAnswer(out, TestPeer.facts(2)));
        member.send(answer);
        assertTrue(member.receiveReply().accepted());
        member.close();
        one.awaitEvent("lost 2");
        one.forget();

        RawPeer replayed = dial(one).send(hello);
        replayed.receive();
        replayed.send(answer);
        assertFalse(replayed.receiveReply().accepted());
        RawPeer answerOnly = dial(one).send(answer);
        assertTrue(answerOnly.drain() == 0);
        assertEquals(List.of(), one.events());
    }

    /** It sends the member's own words back to it, in all ways that fit a place of the conversation. */
    @Test
    void aMemberDoesNotTakeItsOwnProofsFromAnother() throws IOException {
        TestPeer one = open(1, HAS_A);
        ByteBuf first = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, RawPeer.nonce())))
                .receive();
        PeerHandshake.readVersion(first);
        PeerHandshake.readReply(first);
        byte[] itsNonce = ProvenHandshake.readNonce(first);
        // its nonce as one's own, and its proof of that conversation as the answer
        RawPeer reflecting =
                dial(one).frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, itsNonce)));
        ByteBuf second = reflecting.receive();
        PeerHandshake.readVersion(second);
        PeerHandshake.readReply(second);
        ProvenHandshake.readNonce(second);
        byte[] itsProof = ProvenHandshake.readProofs(second).get(0);
        reflecting.frame(out -> ProvenHandshake.writeAnswer(out, itsProof, TestPeer.facts(2)));
        assertFalse(reflecting.receiveReply().accepted());

        // as its own number it is not even challenged
        RawPeer twin = dial(one)
                .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 1, RawPeer.nonce())));
        assertEquals("two servers are called member 1", twin.receiveReply().reason());
        assertEquals(List.of(), one.events());
    }

    /** The member dials it, and it answers with what the member says where it listens itself. */
    @Test
    void aServerThatReflectsWhatAMemberDialsItWithIsNotLinked() throws IOException {
        try (LogLines log = new LogLines();
                ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            TestPeer one = open(1, HAS_A);
            one.network.members(Map.of(2, TestPeer.member(2, server.getLocalPort())));
            RawPeer dialled = kept(accept(server));
            ByteBuf hello = dialled.receive();
            PeerHandshake.readVersion(hello);
            ProvenHandshake.Hello itsHello = ProvenHandshake.readHello(hello);
            assertEquals(2, itsHello.wanted());
            RawPeer back = dial(one)
                    .frame(out -> ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(1, 2, itsHello.nonce())));
            ByteBuf challenge = back.receive();
            byte[] bytes = ByteBufUtil.getBytes(challenge);
            dialled.frame(out -> out.writeBytes(bytes));
            assertEquals(0, dialled.drain());
            await().until(() ->
                    log.with("it has not proven that it has the cluster secret").size() == 1);
            assertEquals(List.of(), one.events());
        }
    }

    @Test
    void theFactsAreProvenWithTheRest() throws IOException {
        TestPeer one = open(1, HAS_A);
        CallersProof proof = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer changed = dial(one).frame(proof::writeHello);
        ByteBuf challenge = changed.receive();
        PeerHandshake.readVersion(challenge);
        PeerHandshake.readReply(challenge);
        assertTrue(proof.knows(challenge, dial(one).binding()));
        ByteBuf answer = Unpooled.buffer();
        proof.writeAnswer(answer, TestPeer.facts(2));
        changed.frame(out -> ProvenHandshake.writeAnswer(out, ProvenHandshake.readProof(answer), of(2, 99)));
        assertFalse(changed.receiveReply().accepted());
        CallersProof ofTwo = new CallersProof(HAS_A, 1, 2, RawPeer.nonce());
        RawPeer another = dial(one).frame(ofTwo::writeHello);
        ByteBuf again = another.receive();
        PeerHandshake.readVersion(again);
        PeerHandshake.readReply(again);
        assertTrue(ofTwo.knows(again, dial(one).binding()));
        another.frame(out -> ofTwo.writeAnswer(out, TestPeer.facts(3)));
        assertFalse(another.receiveReply().accepted(), "it has said another number before");
        assertEquals(List.of(), one.events());
    }

    /** One byte of one frame of each conversation, in either direction. */
    @Test
    void aHandshakeWithAByteChangedOnTheWayMakesNoLink() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        TestPeer called = open(1, HAS_A);
        TestPeer caller = open(2, HAS_A);
        try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            caller.network.members(Map.of(1, TestPeer.member(1, proxy.getLocalPort())));
            for (int i = 0; i < 200; i++) {
                try (RawPeer from = accept(proxy);
                        RawPeer to = dial(called.network.port())) {
                    relay(from, to, random.nextInt(4), random);
                }
            }
        }
        assertEquals(List.of(), caller.events(), "seed " + seed);
        assertEquals(List.of(), called.messages(), "seed " + seed);
    }

    /** Passes hello, challenge, answer and reply on, one of them changed, until an end has closed it. */
    private static void relay(RawPeer from, RawPeer to, int changed, Random random) {
        try {
            for (int i = 0; i < 4; i++) {
                byte[] frame = ByteBufUtil.getBytes((i % 2 == 0 ? from : to).receive());
                if (i == changed) {
                    frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
                }
                (i % 2 == 0 ? to : from).frame(out -> out.writeBytes(frame));
            }
            from.drain();
        } catch (IOException e) {
            // an end has closed it
        }
    }

    // ---- one place for each member

    @Test
    void aNewerLinkTakesThePlaceOfTheOlderOnlyWithTheSameDirectory() throws IOException {
        TestPeer one = open(1, HAS_A);
        RawPeer older = dial(one);
        assertTrue(older.prove(HAS_A, 1, of(2, 0)).accepted());
        RawPeer joined = dial(one);
        assertTrue(joined.prove(HAS_A, 1, of(2, 77)).accepted(), "an empty directory has joined");
        older.drain();
        PeerHandshake.Reply refused = dial(one).prove(HAS_A, 1, of(2, 78));
        assertEquals(
                "member 2 is linked with directory 4d, the caller has directory 4e; it must wait until that link has"
                        + " ended",
                refused.reason());
        assertFalse(dial(one).prove(HAS_A, 1, of(2, 0)).accepted());
        joined.message(message(1));
        one.awaitEvent(message(1));
        RawPeer again = dial(one);
        assertTrue(again.prove(HAS_A, 1, of(2, 77)).accepted());
        joined.drain();
        again.close();
        await().until(() -> one.count("lost 2") == 3);
        assertTrue(dial(one).prove(HAS_A, 1, of(2, 78)).accepted(), "the link has ended");
    }

    @Test
    void aCallerThatHasProvenNothingDoesNotTakeThePlaceOfAMemberThatHas() throws IOException {
        TestPeer one = open(1, PeerSecrets.of(PeerAuthentication.OPTIONAL, List.of(A)));
        RawPeer member = dial(one);
        assertTrue(member.prove(HAS_A, 1, of(2, 77)).accepted());
        PeerHandshake.Reply reply = dial(one).hello(1, of(2, 77)).receiveReply();
        assertTrue(reply.reason().contains("a caller that has not cannot take its place"), reply.reason());
        member.message(message(1));
        one.awaitEvent(message(1));
        assertEquals(0, one.count("lost 2"));
    }

    // ---- time and number of strangers

    /** A byte now and then is no handshake: the time is counted from the first moment. */
    @Test
    void aStrangerThatDripsBytesIsCutOff() throws Exception {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(TestPeer.facts(1), HAS_A, options -> options.electionTimeoutMs(60));
            RawPeer dripping = dial(one);
            dripping.socket.setSoTimeout(10);
            await("the end of it").until(() -> {
                try {
                    dripping.send((byte) 0); // four of them are a keepalive
                    return dripping.in.read() < 0;
                } catch (SocketTimeoutException e) {
                    return false;
                } catch (IOException e) {
                    return true;
                }
            });
            await().until(() -> log.with("its handshake was not complete after three election timeouts")
                            .size()
                    == 1);
        }
    }

    @Test
    void strangersKeepNoMemberOut() throws IOException {
        TestPeer one = open(1, HAS_A);
        for (int i = 0; i < 1300; i++) {
            kept(RawPeer.dial(one.network.port())).send((byte) 0);
        }
        TestPeer two = open(2, HAS_A);
        two.dials(1, one);
        two.awaitEvent("linked 1");
        assertTrue(two.send(1, message(1)));
        one.awaitEvent(message(1));
    }

    @Test
    void theOldestStrangerGivesWayInItsAddressAndInAll() {
        PeerNetwork network = open(1, HAS_A).network;
        Strangers strangers = new Strangers();
        List<InboundLink> ofOne = new ArrayList<>();
        for (int i = 0; i < Strangers.MOST_OF_AN_ADDRESS; i++) {
            ofOne.add(new InboundLink(network, HAS_A, "one", 1));
            assertEquals(Optional.empty(), strangers.add(ofOne.get(i)));
        }
        InboundLink oneMore = new InboundLink(network, HAS_A, "one", 1);
        assertEquals(Optional.of(ofOne.get(0)), strangers.add(oneMore));
        strangers.remove(ofOne.get(1));
        strangers.remove(ofOne.get(1));
        assertEquals(Strangers.MOST_OF_AN_ADDRESS - 1, strangers.count());
        for (int i = strangers.count(); i < Strangers.MOST; i++) {
            assertEquals(Optional.empty(), strangers.add(new InboundLink(network, HAS_A, "host " + i, 1)));
        }
        assertEquals(Optional.of(ofOne.get(2)), strangers.add(new InboundLink(network, HAS_A, "another", 1)));
        assertEquals(Strangers.MOST, strangers.count());
    }

    /** Each time for another reason. */
    @Test
    void strangersDoNotFillTheLog() throws IOException {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(TestPeer.facts(1), HAS_A, options -> options.electionTimeoutMs(600_000));
            int many = 3 * Complaints.MAX_AT_ONCE;
            for (int i = 0; i < many; i++) {
                int wanted = 100 + i;
                RawPeer stranger = dial(one)
                        .frame(out ->
                                ProvenHandshake.writeHello(out, new ProvenHandshake.Hello(wanted, 2, RawPeer.nonce())));
                assertEquals(
                        "member 2 looks for member " + wanted + ", but here is member 1",
                        stranger.receiveReply().reason());
            }
            await().until(() -> one.network.counts().refused() == many);
            assertEquals(Complaints.MAX_AT_ONCE, log.with("is refused").size());
            Complaints later = new Complaints();
            for (int i = 0; i < Complaints.MAX_AT_ONCE; i++) {
                assertTrue(later.add("reason " + i));
                assertFalse(later.add("reason " + i));
            }
            assertFalse(later.add("one more"));
            later.tick();
            assertTrue(later.add("one more"));
        }
    }

    // ---- probing

    @Test
    void aMemberTellsItsClusterToAServerThatHasTheSecret() {
        EnsembleMember one = member(open(1, HAS_A));
        assertEquals(Optional.of(TestPeer.CLUSTER), ClusterProbe.clusterOf(2, one, required(B, A), tls()));
        LogException other = assertThrows(LogException.class, () -> ClusterProbe.clusterOf(2, one, required(B), tls()));
        assertTrue(other.getMessage().endsWith("it has another cluster secret than this server"), other.getMessage());
        LogException none =
                assertThrows(LogException.class, () -> ClusterProbe.clusterOf(2, one, PeerSecrets.NONE, tls()));
        assertTrue(
                none.getMessage().contains("runs, and does not say to which cluster it belongs: member 1 takes only"),
                none.getMessage());
        EnsembleMember without = member(open(1, PeerSecrets.NONE));
        assertEquals(Optional.of(TestPeer.CLUSTER), ClusterProbe.clusterOf(2, without, HAS_A, tls()));
        EnsembleMember empty =
                member(open(new PeerFacts(PeerFacts.NO_CLUSTER, 1, 0, 1, "", 0, false), HAS_A, options -> options));
        assertEquals(Optional.<UUID>empty(), ClusterProbe.clusterOf(2, empty, HAS_A, tls()));
    }

    private static EnsembleMember member(TestPeer peer) {
        return peer.member(1);
    }

    // ---- secrets

    @Test
    void aSecretThatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> required());
        assertThrows(IllegalArgumentException.class, () -> required(A, B, C));
        assertThrows(IllegalArgumentException.class, () -> required(new byte[31]));
        assertEquals(0, PeerSecrets.of(PeerAuthentication.NONE, List.of()).size());
        assertArrayEquals(HAS_A.proof(0, B), required(C, A).proof(1, B));
        assertEquals(1, required(C, A).provenBy(HAS_A.proof(0, B), B));
        assertEquals(-1, required(C, A).provenBy(HAS_A.proof(0, B), C));
        assertEquals(-1, required(C, A).provenBy(new byte[0], C));
    }
}
