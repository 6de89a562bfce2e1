package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StrangersTest {
    private static final int MOST_OF_AN_ADDRESS = 256;

    private final Strangers<Object> strangers = new Strangers<>(MOST_OF_AN_ADDRESS);
    private final List<Object> gone = new ArrayList<>();

    private Object enter(String host) {
        Object connection = new Object();
        strangers.add(connection, host).ifPresent(gone::add);
        return connection;
    }

    @Test
    void theOldestGivesWayInItsAddressAndInAll() {
        List<Object> ofOne = new ArrayList<>();
        for (int i = 0; i < MOST_OF_AN_ADDRESS; i++) {
            ofOne.add(enter("one"));
        }
        assertEquals(List.of(), gone);
        enter("one");
        assertEquals(List.of(ofOne.get(0)), gone);
        strangers.remove(ofOne.get(1));
        strangers.remove(ofOne.get(1));
        assertEquals(MOST_OF_AN_ADDRESS - 1, strangers.count());
        for (int i = strangers.count(); i < Strangers.MOST; i++) {
            enter("host " + i);
        }
        assertEquals(1, gone.size());
        enter("another");
        assertEquals(List.of(ofOne.get(0), ofOne.get(2)), gone);
        assertEquals(Strangers.MOST, strangers.count());
    }

    /** Else those of a few addresses push out one whose way is long, and which needs a moment more. */
    @Test
    void oneDoesNotGiveWayToAddressesThatHaveMore() {
        enter("member");
        List<Object> ofOthers = new ArrayList<>();
        for (int i = 1; i < Strangers.MOST; i++) {
            ofOthers.add(enter("host " + i % 5));
        }
        assertEquals(List.of(), gone);
        for (int i = 0; i < 100; i++) {
            ofOthers.add(enter("host 2"));
        }
        assertEquals(100, gone.size());
        assertTrue(ofOthers.containsAll(gone));
    }

    @Test
    void whereAllAddressesHaveFewTheOldestOfAllGivesWay() {
        Object first = enter("host 0");
        for (int i = 1; i <= Strangers.MOST; i++) {
            enter("host " + i / Strangers.FEW_OF_AN_ADDRESS);
        }
        assertEquals(List.of(first), gone);
    }

    @Test
    void anAddressThatHasLeftHasNoneAnyMore() {
        for (int i = 0; i < 10; i++) {
            strangers.remove(enter("one"));
        }
        enter("first");
        List<Object> ofTwo = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            ofTwo.add(enter("two"));
        }
        for (int i = strangers.count(); i < Strangers.MOST - 5; i++) {
            enter("host " + i / 2);
        }
        for (int i = 0; i < 6; i++) {
            enter("one"); // with those that have left it would have most
        }
        assertEquals(List.of(ofTwo.get(0)), gone);
        assertEquals(Strangers.MOST, strangers.count());
    }

    /** In a cloud members often have one network of IPv6, and several of them call one that has started. */
    @Test
    void someMembersOfOneNetworkDoNotGiveWayToStrangersOfManyNetworks() {
        for (int i = 0; i < Strangers.MOST; i++) {
            enter("host " + i);
        }
        List<Object> members = new ArrayList<>();
        for (int i = 0; i < Strangers.FEW_OF_AN_ADDRESS; i++) {
            members.add(enter("2001:db8:0:1::" + i));
        }
        for (int i = 0; i < Strangers.MOST - Strangers.FEW_OF_AN_ADDRESS; i++) {
            enter("newer host " + i);
        }
        assertEquals(Strangers.MOST, gone.size());
        assertTrue(members.stream().noneMatch(gone::contains));
    }

    /** A host may have each address of its network. */
    @Test
    void thoseOfOneNetworkOfIpv6CountAsOne() {
        Object first = enter("2001:db8:0:1::1");
        for (int i = 1; i < MOST_OF_AN_ADDRESS; i++) {
            enter("2001:db8:0:1:0:0:0:" + Integer.toHexString(i + 1));
        }
        enter("2001:db8:0:2::1");
        assertEquals(List.of(), gone, "another one");
        enter("2001:db8:0:1:9::1%eth0");
        assertEquals(List.of(first), gone);
        assertEquals(MOST_OF_AN_ADDRESS + 1, strangers.count());
        assertEquals("10.0.0.1", HostNetwork.of("10.0.0.1"));
    }

    @Test
    void aNewOneIsAlwaysLetIn() {
        Strangers<Object> two = new Strangers<>(2);
        Object first = new Object();
        assertEquals(Optional.empty(), two.add(first, "one"));
        two.add(new Object(), "one");
        assertEquals(Optional.of(first), two.add(new Object(), "one"));
        assertEquals(2, two.count());
    }
}
