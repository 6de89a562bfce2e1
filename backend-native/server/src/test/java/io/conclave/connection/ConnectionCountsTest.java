package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class ConnectionCountsTest {
    private static ConnectionCounts counts(int maxPerAddress, int max) {
        return new ConnectionCounts(new ConnectionLimits(maxPerAddress, max, 100, 60_000, 2000));
    }

    private static InetAddress address(String text) throws UnknownHostException {
        return InetAddress.getByName(text);
    }

    @Test
    void aNetworkOfIpv6HasTheConnectionsOfSomeAddresses() throws UnknownHostException {
        ConnectionCounts counts = counts(2, 0);
        for (int i = 0; i < 32; i++) {
            assertTrue(counts.enter(address("2001:db8::" + Integer.toHexString(i + 1))));
        }
        assertFalse(counts.enter(address("2001:db8::1:1")));
        assertEquals(32, counts.total());
        assertTrue(counts.enter(address("2001:db8:0:1::1")), "another network");
        counts.leave(address("2001:db8::1"));
        assertTrue(counts.enter(address("2001:db8::1:1")));
        assertFalse(counts.enter(address("2001:db8::1:1")));
        assertTrue(counts.enter(address("10.0.0.1")));
        assertEquals(34, counts.total());
    }

    /** What was refused for its network does not count for its address either. */
    @Test
    void anAddressHasItsOwnBoundBeside() throws UnknownHostException {
        ConnectionCounts counts = counts(1, 0);
        assertTrue(counts.enter(address("2001:db8::1")));
        assertFalse(counts.enter(address("2001:db8::1")));
        assertTrue(counts.enter(address("10.0.0.1")));
        assertFalse(counts.enter(address("10.0.0.1")));
        assertTrue(counts.enter(address("10.0.0.2")), "of IPv4 each address counts by itself");
        for (int i = 2; i <= 16; i++) {
            assertTrue(counts.enter(address("2001:db8::1:" + i)));
        }
        assertFalse(counts.enter(address("2001:db8::2:1")));
        counts.leave(address("2001:db8::1"));
        assertTrue(counts.enter(address("2001:db8::2:1")));
    }

    @Test
    void withoutABoundThereIsNoneForNetworksEither() throws UnknownHostException {
        ConnectionCounts counts = counts(0, 0);
        for (int i = 0; i < 1000; i++) {
            assertTrue(counts.enter(address("2001:db8::" + Integer.toHexString(i + 1))));
        }
    }
}
