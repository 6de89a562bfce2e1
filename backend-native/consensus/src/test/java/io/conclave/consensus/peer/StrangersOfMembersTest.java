package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** What callers without a complete handshake can do at the port of the members. */
@Timeout(300)
@Isolated("counts the lines that the whole package logs")
class StrangersOfMembersTest extends ProvenPeers {
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
}
