package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.JoinTokens;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server without the cluster's secret, which a member gives it for a token, and callers that have none. */
@Timeout(300)
class JoinTest extends OpenedPeers {
    private static final List<byte[]> SECRETS =
            List.of(new byte[32], "the second one of two secrets; more".getBytes(StandardCharsets.US_ASCII));

    final Given given = new Given();
    final JoinToken token = given.make();

    /** Tokens in memory. */
    static final class Given implements JoinTokens {
        final Map<Long, JoinToken> valid = new ConcurrentHashMap<>();
        final AtomicInteger wrong = new AtomicInteger();
        final AtomicInteger found = new AtomicInteger();
        final CountDownLatch open = new CountDownLatch(1);
        volatile boolean slow;

        JoinToken make() {
            JoinToken made = JoinToken.random(1);
            valid.put(made.id(), made);
            return made;
        }

        @Override
        public Optional<JoinToken> find(long id) {
            found.incrementAndGet();
            if (slow) {
                try {
                    open.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return Optional.ofNullable(valid.get(id));
        }

        @Override
        public void wrongProof(long id) {
            wrong.incrementAndGet();
        }

        @Override
        public Optional<List<byte[]>> redeem(long id) {
            return valid.remove(id) == null ? Optional.empty() : Optional.of(SECRETS);
        }
    }

    @AfterEach
    void letGo() {
        given.open.countDown();
    }

    TestPeer member(JoinTokens tokens) {
        PeerSecrets secrets = PeerSecrets.of(PeerAuthentication.REQUIRED, SECRETS);
        return kept(TestPeer.open(TestPeer.facts(1), 0, options -> options.secrets(() -> secrets)
                .joinTokens(tokens)
                .tls(tls())));
    }

    private String refusal(TestPeer member, JoinToken shown) {
        return String.valueOf(
                assertThrows(LogException.class, () -> JoinClient.fetch(2, member.member(1), tls(), shown))
                        .getMessage());
    }

    @Test
    void aServerThatShowsATokenIsGivenTheSecretsOnce() {
        TestPeer one = member(given);
        List<byte[]> fetched = JoinClient.fetch(2, one.member(1), tls(), token);
        assertEquals(2, fetched.size());
        assertArrayEquals(SECRETS.get(0), fetched.get(0));
        assertArrayEquals(SECRETS.get(1), fetched.get(1));
        String again = refusal(one, token);
        assertTrue(
                again.endsWith("member 1 knows no valid join token of this name: it was used, has expired, or was made"
                        + " by another server"),
                again);
        assertEquals(List.of(), one.events(), "it is no member");
        await().until(() -> one.network.counts().strangers() == 0);
    }

    @Test
    void aTokenOfAnotherKeyOpensNothingAndIsNotUsedUp() throws IOException {
        TestPeer one = member(given);
        JoinToken guessed = JoinToken.parse(changed(token.text()));
        assertEquals(token.id(), guessed.id());
        String refused = refusal(one, guessed);
        assertTrue(refused.endsWith("it has not proven that it has made this join token"), refused);
        assertFalse(refused.contains("used up"), refused);

        Raw guess = new Raw(one, guessed);
        guess.prove();
        PeerHandshake.Reply reply = guess.peer.receiveReply();
        assertEquals("it has not proven that it has the join token, or that was used meanwhile", reply.reason());
        assertEquals(1, given.wrong.get());
        assertEquals(2, JoinClient.fetch(2, one.member(1), tls(), token).size());
    }

    /** Another key, with the check of that. */
    private static String changed(String text) {
        for (int digit = 0; ; digit++) {
            for (int check = 0; check < 1 << 16; check++) {
                String key = Integer.toHexString(digit);
                String other = text.substring(0, 30)
                        + key
                        + text.substring(31, text.length() - 4)
                        + String.format("%04x", check);
                try {
                    JoinToken.parse(other);
                } catch (IllegalArgumentException e) {
                    continue;
                }
                if (!other.equals(text)) {
                    return other;
                }
            }
        }
    }

    /** The caller's side, step by step. */
    private final class Raw {
        final RawPeer peer;
        final KeyPair keys = JoinExchange.newKeys();
        final JoinToken shown;
        JoinExchange exchange;

        Raw(TestPeer one, JoinToken shown) throws IOException {
            this.shown = shown;
            JoinHandshake.Hello hello =
                    new JoinHandshake.Hello(1, 2, shown.id(), keys.getPublic().getEncoded());
            peer = dial(one).frame(out -> JoinHandshake.writeHello(out, hello));
            ByteBuf challenge = peer.receive();
            PeerHandshake.readVersion(challenge);
            assertTrue(PeerHandshake.readReply(challenge).accepted());
            byte[] calledKey = new byte[JoinExchange.KEY_BYTES];
            challenge.readBytes(calledKey);
            exchange = new JoinExchange(shown, 1, 2, hello.key(), calledKey);
        }

        void prove() throws IOException {
            peer.frame(out -> out.writeBytes(exchange.callersProof()));
        }
    }

    @Test
    void ofTwoCallersWithTheSameTokenOneIsGivenTheSecret() throws IOException {
        TestPeer one = member(given);
        Raw first = new Raw(one, token);
        Raw second = new Raw(one, token);
        second.prove();
        ByteBuf reply = second.peer.receive();
        PeerHandshake.readVersion(reply);
        assertTrue(PeerHandshake.readReply(reply).accepted());
        byte[] sealed = JoinHandshake.readSealed(reply);
        assertEquals(2, second.exchange.open(second.keys, sealed).size());
        assertThrows(
                MalformedMessageException.class,
                () -> second.exchange.open(JoinExchange.newKeys(), sealed),
                "who has the token and what was said, and not the key of the caller");
        first.prove();
        assertFalse(first.peer.receiveReply().accepted());
        assertEquals(0, given.wrong.get());
    }

    @Test
    void whatWasRecordedIsOfNoUseOnAnotherConnection() throws IOException {
        TestPeer one = member(given);
        Raw recorded = new Raw(one, token);
        byte[] proof = recorded.exchange.callersProof();
        Raw replayed = new Raw(one, token);
        replayed.peer.frame(out -> out.writeBytes(proof));
        assertFalse(replayed.peer.receiveReply().accepted());
        Raw reflected = new Raw(one, token);
        reflected.peer.frame(out -> out.writeBytes(reflected.exchange.calledProof()));
        assertFalse(reflected.peer.receiveReply().accepted());
        assertEquals(2, given.wrong.get());
        assertEquals(1, given.valid.size());
    }

    /** Also of the secret's frame; nothing of it is on the wire as it is. */
    @Test
    void aConversationWithAByteChangedOnTheWayGivesNoSecret() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        TestPeer one = member(given);
        try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 20; i++) {
                JoinToken shown = given.make();
                int changed = random.nextInt(5); // 4: none
                Thread relay = new Thread(() -> relay(proxy, one, changed, random), "relay");
                relay.start();
                try {
                    List<byte[]> fetched = JoinClient.fetch(2, TestPeer.member(1, proxy.getLocalPort()), tls(), shown);
                    assertEquals(4, changed, "seed " + seed);
                    assertArrayEquals(SECRETS.get(0), fetched.get(0));
                } catch (LogException e) {
                    assertTrue(changed < 4, "seed " + seed + ": " + e.getMessage());
                } finally {
                    relay.join();
                }
            }
        }
    }

    private void relay(ServerSocket proxy, TestPeer one, int changed, Random random) {
        try (RawPeer from = accept(proxy);
                RawPeer to = dial(one.network.port())) {
            for (int i = 0; i < 4; i++) {
                byte[] frame = ByteBufUtil.getBytes((i % 2 == 0 ? from : to).receive());
                if (i == changed) {
                    frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
                }
                assertFalse(contains(frame, SECRETS.get(1)));
                (i % 2 == 0 ? to : from).frame(out -> out.writeBytes(frame));
            }
            from.drain();
        } catch (IOException e) {
            // an end has closed it
        }
    }

    private static boolean contains(byte[] frame, byte[] part) {
        return new String(frame, StandardCharsets.ISO_8859_1).contains(new String(part, StandardCharsets.ISO_8859_1));
    }

    @Test
    void framesThatCannotBeAreRefused() throws IOException {
        TestPeer one = member(given);
        RawPeer wrongMember = dial(one)
                .frame(out -> JoinHandshake.writeHello(
                        out, new JoinHandshake.Hello(3, 2, token.id(), new byte[JoinExchange.KEY_BYTES])));
        assertEquals(
                "member 2 looks for member 3, but here is member 1",
                wrongMember.receiveReply().reason());
        RawPeer self = dial(one)
                .frame(out -> JoinHandshake.writeHello(
                        out, new JoinHandshake.Hello(1, 1, token.id(), new byte[JoinExchange.KEY_BYTES])));
        assertEquals("two servers are called member 1", self.receiveReply().reason());
        Raw early = new Raw(one, token);
        early.prove();
        early.prove();
        early.peer.drain();
        JoinToken another = given.make();
        JoinHandshake.Hello noKey = new JoinHandshake.Hello(1, 2, another.id(), new byte[JoinExchange.KEY_BYTES]);
        RawPeer without = dial(one).frame(out -> JoinHandshake.writeHello(out, noKey));
        ByteBuf challenge = without.receive();
        PeerHandshake.readVersion(challenge);
        PeerHandshake.readReply(challenge);
        JoinExchange exchange = JoinHandshake.readChallenge(challenge, another, noKey);
        without.frame(out -> out.writeBytes(exchange.callersProof()));
        assertFalse(without.receiveReply().accepted());
        assertEquals(List.of(), one.events());
    }

    @Test
    void aMemberWithoutTokensGivesNothing() {
        String refused = refusal(member(JoinTokens.NONE), token);
        assertTrue(refused.contains("knows no valid join token"), refused);
    }

    /** However many there are; and no thread waits for each. */
    @Test
    void strangersThatNameTokensAreBounded() throws IOException {
        TestPeer one = member(given);
        given.slow = true;
        List<RawPeer> strangers = new ArrayList<>();
        byte[] key = JoinExchange.newKeys().getPublic().getEncoded();
        for (int i = 0; i < 100; i++) {
            long id = i;
            strangers.add(
                    dial(one).frame(out -> JoinHandshake.writeHello(out, new JoinHandshake.Hello(1, 2, id, key))));
        }
        await().until(() -> one.network.counts().refused() == 100 - 16);
        assertEquals(16, given.found.get());
        given.slow = false;
        given.open.countDown();
        await().until(() -> one.network.counts().refused() == 100);
        assertEquals(2, JoinClient.fetch(2, one.member(1), tls(), token).size());
    }

    @Test
    void aTokenIsReadAsItWasWrittenAndAnErrorOfCopyingIsFound() {
        JoinToken made = JoinToken.random(255);
        JoinToken read = JoinToken.parse("  " + made.text().toUpperCase(java.util.Locale.ROOT) + "\n");
        assertEquals(255, read.issuer());
        assertEquals(made.id(), read.id());
        assertArrayEquals(made.key(), read.key());
        assertFalse(made.toString().contains(made.text().substring(23, 55)), made.toString());
        for (String wrong : List.of("", "join-", made.text() + "0", made.text().replace("join-", "join_"))) {
            assertThrows(IllegalArgumentException.class, () -> JoinToken.parse(wrong));
        }
        char[] changed = made.text().toCharArray();
        changed[20] = changed[20] == '0' ? '1' : '0';
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> JoinToken.parse(new String(changed)));
        assertEquals("this join token was changed on its way: copy it again", refused.getMessage());
        Arrays.fill(changed, 5, 10, 'x');
        assertThrows(IllegalArgumentException.class, () -> JoinToken.parse(new String(changed)));
    }
}
