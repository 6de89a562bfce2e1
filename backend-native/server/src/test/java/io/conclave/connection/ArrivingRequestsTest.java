package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArrivingRequestsTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final ArrivingRequests requests = new ArrivingRequests(100, time);
    private final List<String> admitted = new ArrayList<>();
    private final List<String> lookedAt = new ArrayList<>();

    private final class Named implements ArrivingRequests.Arrival {
        private final String name;
        private final String network;

        Named(String name) {
            this(name, "of " + name);
        }

        Named(String name, String network) {
            this.name = name;
            this.network = network;
        }

        @Override
        public String network() {
            return network;
        }

        @Override
        public void admitted() {
            admitted.add(name);
        }

        @Override
        public void lookedAt() {
            lookedAt.add(name);
        }
    }

    private final Named a = new Named("a");
    private final Named b = new Named("b");
    private final Named c = new Named("c");
    private final Named d = new Named("d");

    /** As with {@code maxArrivingRequestBytes=0}. */
    @Test
    void withoutABoundAllOfAnAddressArriveAtOnce() {
        ArrivingRequests unbounded = new ArrivingRequests(Long.MAX_VALUE, time);
        for (String name : List.of("e", "f", "g")) {
            assertTrue(unbounded.enter(new Named(name, "one"), 1 << 20), name);
        }
    }

    @Test
    void thoseThatFindNoRoomGoInInTheOrderInWhichTheyCame() {
        assertTrue(requests.enter(a, 60));
        assertTrue(requests.enter(b, 40));
        assertFalse(requests.enter(c, 60));
        assertFalse(requests.enter(d, 10), "the one before it waits");
        requests.leave(b);
        assertEquals(List.of(), admitted);
        requests.leave(a);
        assertEquals(List.of("c", "d"), admitted);
        assertEquals(70, requests.bytesInside());
    }

    @Test
    void oneThatIsLongerThanTheRoomGoesInAlone() {
        assertTrue(requests.enter(a, 1000));
        assertFalse(requests.enter(b, 1));
        requests.leave(a);
        assertEquals(List.of("b"), admitted);
        assertFalse(requests.enter(c, 1000));
        requests.leave(b);
        assertEquals(List.of("b", "c"), admitted);
    }

    @Test
    void oneThatWaitsNoMoreMakesRoomForThoseBehindIt() {
        assertTrue(requests.enter(a, 60));
        assertFalse(requests.enter(b, 60));
        assertFalse(requests.enter(c, 40));
        requests.leave(b);
        requests.leave(b);
        assertEquals(List.of("c"), admitted);
        requests.leave(a);
        requests.leave(a);
        assertEquals(40, requests.bytesInside());
    }

    /** Its clients send just enough not to be cut. */
    @Test
    void anAddressWithManyThatArriveSlowlyLeavesRoomForThoseOfOthers() {
        List<Named> slow = new ArrayList<>();
        int inside = 0;
        for (int i = 0; i < 20; i++) {
            slow.add(new Named("slow", "strangers"));
            inside += requests.enter(slow.get(i), 10) ? 1 : 0;
        }
        assertEquals(6, inside, "twice what it leaves");
        assertTrue(requests.enter(a, 30));
        requests.leave(a);
        assertEquals(List.of(), admitted);
        requests.leave(slow.get(0));
        assertEquals(List.of("slow"), admitted);
        assertTrue(requests.enter(b, 30));
    }

    @Test
    void addressesThatWaitTakeTurns() {
        requests.enter(a, 100);
        for (int i = 0; i < 3; i++) {
            assertFalse(requests.enter(new Named("slow", "strangers"), 50));
        }
        assertFalse(requests.enter(b, 50));
        requests.leave(a);
        assertEquals(List.of("slow", "b"), admitted);
    }

    @Test
    void thoseThatArriveAreLookedAtWhileOthersWait() {
        requests.enter(a, 60);
        requests.enter(b, 40);
        time.advance(ArrivingRequests.BETWEEN_LOOKS.multipliedBy(3));
        assertEquals(List.of(), lookedAt);
        requests.enter(c, 50);
        time.advance(ArrivingRequests.BETWEEN_LOOKS);
        assertEquals(List.of("a", "b"), lookedAt);
        requests.leave(a);
        time.advance(ArrivingRequests.BETWEEN_LOOKS.multipliedBy(3));
        assertEquals(List.of("a", "b"), lookedAt, "none waits");
        requests.enter(d, 50);
        time.advance(ArrivingRequests.BETWEEN_LOOKS);
        assertEquals(List.of("a", "b", "b", "c"), lookedAt);
    }

    @Test
    void whereThereIsRoomOnlyThoseOfAnAddressThatWaitsForItselfAreLookedAt() {
        requests.enter(a, 20);
        assertTrue(requests.enter(new Named("slow", "strangers"), 40));
        assertFalse(requests.enter(new Named("slow too", "strangers"), 30));
        time.advance(ArrivingRequests.BETWEEN_LOOKS);
        assertEquals(List.of("slow"), lookedAt);
        assertFalse(requests.enter(b, 50));
        time.advance(ArrivingRequests.BETWEEN_LOOKS);
        assertEquals(List.of("slow", "a", "slow"), lookedAt);
    }
}
