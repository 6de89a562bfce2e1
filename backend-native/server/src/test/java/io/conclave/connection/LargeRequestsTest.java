package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LargeRequestsTest {
    private final LargeRequests requests = new LargeRequests(100);
    private final List<String> admitted = new ArrayList<>();

    private boolean enter(String name, long weight) {
        return requests.enter(() -> admitted.add(name), weight);
    }

    @Test
    void thoseThatFindNoRoomGoInInTheOrderInWhichTheyCame() {
        assertTrue(enter("a", 60));
        assertTrue(enter("b", 40));
        assertFalse(enter("c", 60));
        assertFalse(enter("d", 10), "the one before it waits");
        requests.leave(40);
        assertEquals(List.of(), admitted);
        requests.leave(60);
        assertEquals(List.of("c", "d"), admitted);
        assertEquals(70, requests.inside());
    }

    @Test
    void oneThatIsLargerThanTheRoomGoesInAlone() {
        assertTrue(enter("huge", 1000));
        assertFalse(enter("small", 1));
        assertFalse(enter("huge too", 1000));
        requests.leave(1000);
        assertEquals(List.of("small"), admitted);
        requests.leave(1);
        assertEquals(List.of("small", "huge too"), admitted);
        requests.leave(1000);
        assertEquals(0, requests.inside());
    }
}
