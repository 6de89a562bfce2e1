package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HalfOpenHandshakesTest {
    private final HalfOpenHandshakes halfOpen = new HalfOpenHandshakes();
    private final List<Channel> gone = new ArrayList<>();

    /** @param host its address is 10.0.x.y */
    private Channel enter(int host) throws UnknownHostException {
        EmbeddedChannel channel = new EmbeddedChannel();
        InetAddress address = InetAddress.getByAddress(new byte[] {10, 0, (byte) (host >> 8), (byte) host});
        halfOpen.enter(channel, address, () -> gone.add(channel));
        return channel;
    }

    @Test
    void theOldestGivesWayWhenThereAreTooMany() throws UnknownHostException {
        Channel first = enter(1);
        Channel second = enter(1);
        for (int i = 2; i < HalfOpenHandshakes.MOST; i++) {
            enter(1);
        }
        assertEquals(List.of(), gone);
        enter(1);
        assertEquals(List.of(first), gone);
        halfOpen.leave(first);
        halfOpen.leave(second);
        assertEquals(HalfOpenHandshakes.MOST - 1, halfOpen.count());
        enter(1);
        assertEquals(List.of(first), gone);
    }

    @Test
    void aClientDoesNotGiveWayToAddressesThatHaveMore() throws UnknownHostException {
        enter(1); // a client whose way is long
        List<Channel> ofStrangers = new ArrayList<>();
        for (int i = 1; i < HalfOpenHandshakes.MOST; i++) {
            ofStrangers.add(enter(2 + i % 2));
        }
        for (int i = 0; i < 100; i++) {
            ofStrangers.add(enter(2));
        }
        assertEquals(100, gone.size());
        assertTrue(ofStrangers.containsAll(gone));
    }

    @Test
    void whereAllAddressesHaveFewTheOldestOfAllGivesWay() throws UnknownHostException {
        Channel first = enter(0);
        for (int i = 1; i <= HalfOpenHandshakes.MOST; i++) {
            enter(i / HalfOpenHandshakes.FEW_OF_AN_ADDRESS);
        }
        assertEquals(List.of(first), gone);
    }

    @Test
    void anAddressThatHasLeftHasNoneAnyMore() throws UnknownHostException {
        for (int i = 0; i < 10; i++) {
            halfOpen.leave(enter(7));
        }
        Channel first = enter(1);
        for (int i = 0; i < HalfOpenHandshakes.MOST - 6; i++) {
            enter(100 + i / 2);
        }
        for (int i = 0; i < 5; i++) {
            enter(7);
        }
        Channel oneTooMany = enter(100);
        assertEquals(1, gone.size());
        assertFalse(gone.contains(first) || gone.contains(oneTooMany));
        assertEquals(HalfOpenHandshakes.MOST, halfOpen.count());
    }
}
