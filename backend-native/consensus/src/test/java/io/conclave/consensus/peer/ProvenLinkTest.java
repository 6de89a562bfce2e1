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
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.proxy.FreePort;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Links whose ends prove that they have the cluster's secret. */
@Timeout(300)
@Isolated("counts the lines that the whole package logs")
class ProvenLinkTest extends ProvenPeers {
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
        int port = FreePort.find();
        TestPeer without =
                kept(TestPeer.open(TestPeer.facts(2), port, options -> options.secrets(() -> PeerSecrets.NONE)
                        .tls(tls())));
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
