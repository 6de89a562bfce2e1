package io.conclave.consensus.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.HostNetwork;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** How long callers without a complete handshake have, and how many of them there may be. */
@Timeout(300)
@Isolated("counts the lines that the whole package logs")
class StrangersTest extends ProvenPeers {
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

    /** Else those of a few addresses push out a member that needs a moment more. */
    @Test
    void anAddressWithFewStrangersDoesNotGiveWayToOneWithMany() {
        PeerNetwork network = open(1, HAS_A).network;
        Strangers strangers = new Strangers();
        strangers.add(new InboundLink(network, HAS_A, "member", 1));
        List<InboundLink> others = new ArrayList<>();
        for (int i = 0; i < Strangers.MOST; i++) {
            others.add(new InboundLink(network, HAS_A, "host " + i % 5, 1));
        }
        for (int i = 0; i < Strangers.MOST - 1; i++) {
            assertEquals(Optional.empty(), strangers.add(others.get(i)));
        }
        assertEquals(Optional.of(others.get(0)), strangers.add(others.get(Strangers.MOST - 1)));
    }

    /** In a cloud members often have one network of IPv6, and several of them call one that has started. */
    @Test
    void someMembersOfOneNetworkDoNotGiveWayToStrangersOfManyNetworks() {
        PeerNetwork network = open(1, HAS_A).network;
        Strangers strangers = new Strangers();
        for (int i = 0; i < Strangers.MOST; i++) {
            strangers.add(new InboundLink(network, HAS_A, "host " + i, 1));
        }
        List<InboundLink> members = new ArrayList<>();
        for (int i = 0; i < Strangers.FEW_OF_AN_ADDRESS; i++) {
            members.add(new InboundLink(network, HAS_A, "2001:db8:0:1::" + i, 1));
            strangers.add(members.get(i));
        }
        for (int i = 0; i < Strangers.MOST - Strangers.FEW_OF_AN_ADDRESS; i++) {
            Optional<InboundLink> goes = strangers.add(new InboundLink(network, HAS_A, "newer host " + i, 1));
            assertFalse(members.contains(goes.orElseThrow()));
        }
    }

    /** A host may have each address of its network. */
    @Test
    void strangersOfOneNetworkOfIpv6CountAsOne() {
        PeerNetwork network = open(1, HAS_A).network;
        Strangers strangers = new Strangers();
        InboundLink first = new InboundLink(network, HAS_A, "2001:db8:0:1::1", 1);
        assertEquals(Optional.empty(), strangers.add(first));
        for (int i = 1; i < Strangers.MOST_OF_AN_ADDRESS; i++) {
            InboundLink next = new InboundLink(network, HAS_A, "2001:db8:0:1:0:0:0:" + Integer.toHexString(i + 1), 1);
            assertEquals(Optional.empty(), strangers.add(next));
        }
        assertEquals(
                Optional.empty(), strangers.add(new InboundLink(network, HAS_A, "2001:db8:0:2::1", 1)), "another one");
        assertEquals(Optional.of(first), strangers.add(new InboundLink(network, HAS_A, "2001:db8:0:1:9::1%eth0", 1)));
        strangers.remove(first);
        assertEquals(Strangers.MOST_OF_AN_ADDRESS + 1, strangers.count());
        assertEquals("10.0.0.1", HostNetwork.of("10.0.0.1"));
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
