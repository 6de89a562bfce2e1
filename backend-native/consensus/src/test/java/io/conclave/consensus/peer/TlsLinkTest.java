package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.CallersHandshakes;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.conclave.tls.TlsContext;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Links between members over TLS: who is taken, and what each end says of those that are not. */
@Timeout(300)
@Tag("proof")
@Isolated("counts the lines that the whole package logs")
class TlsLinkTest extends OpenedPeers {
    private static final TestTls TLS = new TestTls();
    private static final PeerSecrets SECRETS = PeerSecrets.of(PeerAuthentication.REQUIRED, List.of(new byte[32]));

    private TestPeer open(int id, PeerTls tls) {
        return open(id, tls, options -> options);
    }

    private TestPeer open(int id, PeerTls tls, UnaryOperator<PeerOptions.Builder> with) {
        return kept(TestPeer.open(
                TestPeer.facts(id),
                0,
                options -> with.apply(options.secrets(() -> SECRETS).tls(tls).redialMs(1, 20))));
    }

    /** sslQuorum and portUnification of a member. */
    private PeerTls form(String name) {
        TlsContext context = TLS.context("form", TLS.own, TLS.authority);
        return switch (name) {
            case "false/false" -> PeerTls.NONE;
            case "false/true" -> TestTls.tls(context, false, true, true);
            case "true/true" -> TestTls.tls(context, true, true, true);
            case "true/false" -> TestTls.tls(context, true, false, true);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static void list(TestPeer one, TestPeer two) {
        Map<Integer, EnsembleMember> all = Map.of(1, one.member(1), 2, two.member(2));
        one.network.members(all);
        two.network.members(all);
    }

    /** Neighbours on the way of a running ensemble to TLS, one step in one direction or in the other. */
    @ParameterizedTest
    @CsvSource({
        "false/false, false/true, 0",
        "false/true, false/true, 0",
        "false/true, true/true, 1",
        "true/true, true/true, 2",
        "true/true, true/false, 2",
        "true/false, true/false, 2"
    })
    void membersOfNeighbouringFormsAreLinkedInBothDirections(String form, String other, int withTls) {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, form(form));
            TestPeer two = open(2, form(other));
            list(one, two);
            one.awaitEvent("linked 2");
            two.awaitEvent("linked 1");
            assertTrue(one.send(2, message(1)));
            assertTrue(two.send(1, message(2)));
            two.awaitEvent(message(1));
            one.awaitEvent(message(2));
            assertEquals(withTls, log.with(", with TLS").size());
        }
    }

    @Test
    void memberThatSpeaksNoTlsAndOneThatSpeaksNothingElseSayWhy() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, form("false/false"));
            TestPeer two = open(2, form("true/false"));
            list(one, two);
            awaitLine(
                    log, "no link to member 2", "refused: member 2 takes only members that speak TLS (sslQuorum=true)");
            awaitLine(log, "is refused", "member 2 takes only members that speak TLS (sslQuorum=true)");
            awaitLine(log, "no link to member 1", "TLS: the connection was closed during the handshake");
            awaitLine(log, "is refused", "the caller speaks TLS, and this member does not");
            assertEquals(0, one.count("linked 2") + two.count("linked 1"));
        }
    }

    /** They compute with what is kept for them, whatever strangers have others compute. */
    @Test
    void ownLinksAreMadeWhileNoHandshakeOfCallersIsComputed() {
        TlsContext context = TLS.context("own", TLS.own, TLS.authority);
        PeerTls busy = new PeerTls(
                Optional.of(context), true, false, true, TestTls.HANDSHAKES, new CallersHandshakes(never -> {}, 1));
        TestPeer one = open(1, busy);
        TestPeer two = open(2, form("true/false"));
        list(one, two);
        one.awaitEvent("linked 2");
        assertTrue(one.send(2, message(1)));
        two.awaitEvent(message(1));
        assertEquals(0, two.count("linked 1"));
    }

    private static void awaitLine(LogLines log, String with, String and) {
        await(and).until(() -> log.with(with).stream().anyMatch(line -> line.contains(and)));
    }

    // ---- certificates

    private PeerTls with(String name, TestCertificate certificate, CertificateAuthority trusted) {
        return TestTls.tls(TLS.context(name, certificate, trusted), true, false, true);
    }

    /** Only the two of them are open, and each dials the other. */
    private void assertNoLink(PeerTls good, PeerTls bad, String linesOfGood, String linesOfBad) {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, good);
            TestPeer two = open(2, bad);
            list(one, two);
            awaitLine(log, "no link to member 2", linesOfGood);
            awaitLine(log, "no link to member 1", linesOfBad);
            assertEquals(0, one.count("linked 2") + two.count("linked 1"));
        }
    }

    @Test
    void expiredCertificateIsRefusedWithALineAtBothEnds() {
        assertNoLink(
                with("good", TLS.own, TLS.authority),
                with("expired", TLS.authority.issueExpired("CN=expired", TestTls.HOST), TLS.authority),
                "TLS: the certificate CN=expired (issued by CN=authority of the members, valid from",
                "refused the certificate CN=expired");
    }

    @Test
    void certificateOfAForeignAuthorityIsRefusedWithALineAtBothEnds() {
        CertificateAuthority foreign = new CertificateAuthority("CN=foreign");
        assertNoLink(
                with("good", TLS.own, TLS.authority),
                with("foreign", foreign.issue("CN=foreign member", TestTls.HOST), TLS.authority),
                "is not signed by any of the 1 authority in",
                "refused the certificate CN=foreign member");
    }

    @Test
    void certificateForAnotherHostIsRefusedInBothDirections() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, with("good", TLS.own, TLS.authority));
            TestPeer two = open(2, with("other", TLS.authority.issue("CN=other", "192.0.2.7"), TLS.authority));
            list(one, two);
            awaitLine(log, "no link to member 2", "TLS: the certificate CN=other");
            String refused = "member 2 is at host 127.0.0.1, but the caller has the certificate CN=other for [other]"
                    + "[192.0.2.7] (ssl.quorum.clientHostnameVerification)";
            awaitLine(log, "no link to member 1", refused);
            awaitLine(log, "is refused", refused);
            assertEquals(0, one.count("linked 2") + two.count("linked 1"));
        }
    }

    /** It has the secret and a certificate of the authority, and says that it is another member than it may be. */
    @Test
    void certificateOfOneMemberIsOfNoUseToAnother() {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, with("good", TLS.own, TLS.authority));
            TestPeer two = open(2, with("two", TLS.own, TLS.authority));
            one.network.members(Map.of(2, new EnsembleMember(2, 0, "host-of-two", two.network.port(), "", 0, false)));
            two.dials(1, one);
            awaitLine(log, "is refused", "member 2 is at host host-of-two, but the caller has the certificate");
            one.network.members(Map.of());
            awaitLine(log, "is refused", "member 2 is not listed here, so its host is not known");
            one.network.members(Map.of(2, two.member(2)));
            two.awaitEvent("linked 1");
        }
    }

    @Test
    void callerWithoutACertificateIsRefused() throws IOException {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, with("good", TLS.own, TLS.authority));
            RawPeer without = kept(new RawPeer(TLS.withoutCertificate(RawPeer.connect(one.network.port())), true));
            try {
                without.hello(1, TestPeer.facts(2)).drain();
            } catch (IOException e) {
                // it is refused already
            }
            awaitLine(log, "before a handshake", "TLS: the client sent no certificate");
            assertEquals(List.of(), one.events());
        }
    }

    /** The one in between has a certificate that is in order, and neither the secret nor the key of the other two. */
    @Test
    void proofThatIsPassedOnThroughAnotherEndOfTlsIsOfNoUse() throws Exception {
        TestPeer called = open(1, form("true/false"));
        TestCertificate between = TLS.authority.issue("CN=between", TestTls.HOST);
        TestPeer caller = open(2, TestTls.tls(TLS.context("caller", TLS.own, TLS.authority), true, false, false));
        called.network.members(Map.of(2, caller.member(2)));
        try (LogLines log = new LogLines();
                ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            caller.network.members(Map.of(1, TestPeer.member(1, proxy.getLocalPort())));
            for (int i = 0; i < 3; i++) {
                try (RawPeer from = new RawPeer(TLS.over(proxy.accept(), false, between), false);
                        RawPeer to = new RawPeer(TLS.over(RawPeer.connect(called.network.port()), true), true)) {
                    byte[] hello = ByteBufUtil.getBytes(from.receive());
                    to.frame(out -> out.writeBytes(hello));
                    byte[] challenge = ByteBufUtil.getBytes(to.receive());
                    from.frame(out -> out.writeBytes(challenge));
                    assertEquals(0, from.drain(), "it does not answer");
                }
            }
            awaitLine(log, "no link to member 1", "it has not proven that it has the cluster secret of this member");
            assertEquals(List.of(), caller.events());
        }
    }

    @Test
    void certificatesThatAreReplacedCountForNewLinksOnly() throws Exception {
        TlsContext reloaded = TLS.context("reloaded", TLS.authority.issue("CN=first", TestTls.HOST), TLS.authority);
        TestPeer one = open(1, form("true/false"));
        TestPeer two = open(2, TestTls.tls(reloaded, true, false, true));
        list(one, two);
        one.awaitEvent("linked 2");
        two.awaitEvent("linked 1");
        TLS.authority.issueExpired("CN=second", TestTls.HOST).writePem(TLS.file("reloaded"));
        assertTrue(reloaded.reloadIfChanged());
        assertTrue(two.send(1, message(1)));
        one.awaitEvent(message(1));
        assertEquals(0, two.count("down 1") + one.count("down 2"));
        try (LogLines log = new LogLines()) {
            two.call(() -> {
                two.network.disconnect(1, "the test ends it");
                return 0;
            });
            awaitLine(log, "no link to member 2", "CN=second");
        }
        TLS.authority.issue("CN=third", TestTls.HOST).writePem(TLS.file("reloaded"));
        assertTrue(reloaded.reloadIfChanged());
        await().until(() -> one.count("linked 2") == 2);
    }

    /** Java may resume an earlier session of TLS then. */
    @Test
    void linksThatAreMadeAgainAreProvenAsTheFirst() {
        TestPeer one = open(1, form("true/false"));
        TestPeer two = open(2, form("true/false"));
        list(one, two);
        for (int i = 1; i <= 5; i++) {
            int links = i;
            await().until(() -> one.count("linked 2") == links && two.count("linked 1") == links);
            one.call(() -> {
                one.network.disconnect(2, "the test ends it");
                return 0;
            });
            two.call(() -> {
                two.network.disconnect(1, "the test ends it");
                return 0;
            });
        }
    }

    /** Not as one that is not there: a new cluster would be made beside it. */
    @Test
    void memberThatDoesNotTakeTheCertificateOfACommandIsSaidToRun() {
        TestPeer one = open(1, form("true/false"));
        one.network.members(Map.of(2, TestPeer.member(2, 1)));
        assertEquals(
                Optional.of(TestPeer.CLUSTER), ClusterProbe.clusterOf(2, one.member(1), SECRETS, ofCommand(TLS.own)));
        PeerTls foreign = ofCommand(new CertificateAuthority("CN=foreign").issue("CN=command", TestTls.HOST));
        LogException refused =
                assertThrows(LogException.class, () -> ClusterProbe.clusterOf(2, one.member(1), SECRETS, foreign));
        assertTrue(refused.getMessage().contains("runs, and does not say"), refused.getMessage());
        TestPeer plain = open(3, PeerTls.NONE);
        LogException noTls = assertThrows(
                LogException.class, () -> ClusterProbe.clusterOf(2, plain.member(3), SECRETS, ofCommand(TLS.own)));
        assertTrue(
                noTls.getMessage().contains("TLS: the connection was closed during the handshake"), noTls.getMessage());
    }

    private static PeerTls ofCommand(TestCertificate certificate) {
        return TestTls.tls(TLS.context("command", certificate, TLS.authority), true, false, false);
    }

    // ---- time, memory and order

    @Test
    void strangerThatDripsAHandshakeOfTlsIsCutOff() throws Exception {
        try (LogLines log = new LogLines()) {
            TestPeer one = open(1, form("true/false"), options -> options.electionTimeoutMs(60));
            RawPeer dripping = kept(RawPeer.dial(one.network.port()));
            dripping.socket.setSoTimeout(10);
            // the head of a record of 16 kB, and a little of it now and then
            dripping.send((byte) 22, (byte) 3, (byte) 1, (byte) 64, (byte) 0, (byte) 1);
            await("the end of it").until(() -> {
                try {
                    dripping.send((byte) 0);
                    return dripping.in.read() < 0;
                } catch (SocketTimeoutException e) {
                    return false;
                } catch (IOException e) {
                    return true;
                }
            });
            awaitLine(log, "before a handshake", "its handshake was not complete after three election timeouts");
        }
    }

    @Test
    void strangersInTheirHandshakesKeepNoMemberOut() throws IOException {
        TestPeer one = open(1, form("true/false"));
        for (int i = 0; i < 1300; i++) {
            kept(RawPeer.dial(one.network.port())).send((byte) 22);
        }
        TestPeer two = open(2, form("true/false"));
        list(one, two);
        two.awaitEvent("linked 1");
        assertTrue(one.network.counts().gaveWay() > 0);
    }

    /** What waits inside of TLS counts, too. */
    @Test
    void memberThatDoesNotReadLosesItsLinkWhenTooMuchWaits() throws Exception {
        int frame = 2 << 20;
        TestPeer one = open(
                1,
                TestTls.tls(TLS.context("form", TLS.own, TLS.authority), true, false, false),
                options -> options.maxFrameBytes(frame).maxBacklogBytes(4 * frame));
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                LogLines log = new LogLines()) {
            one.network.members(Map.of(2, TestPeer.member(2, server.getLocalPort())));
            RawPeer deaf = kept(new RawPeer(TLS.over(server.accept(), false), false));
            deaf.proves(SECRETS, TestPeer.facts(2));
            one.awaitEvent("linked 2");
            byte[] bytes = new byte[1 << 20];
            int sent = one.call(() -> {
                int count = 0;
                while (count < 1000 && one.network.send(2, new SnapshotChunk(1, 1, 1, 1L << 40, 0, bytes))) {
                    count++;
                }
                return count;
            });
            assertTrue(sent >= 7 && sent <= 8, "sent " + sent + " MB without a flush, of a backlog of 8");
            one.awaitEvent("down 2");
            awaitLine(log, "lost the link to member 2", "more than maxBacklogBytes");
        }
    }

    @Test
    void silentMemberIsNoticedAndKeepalivesKeepALink() throws Exception {
        TestPeer one = open(1, form("true/false"), options -> options.electionTimeoutMs(100));
        TestPeer two = open(2, form("true/false"), options -> options.electionTimeoutMs(100));
        list(one, two);
        one.awaitEvent("linked 2");
        two.awaitEvent("linked 1");
        await().during(java.time.Duration.ofMillis(1500)).until(() -> one.count("down 2") == 0);
        assertFalse(one.events().contains("lost 2"));
    }
}
