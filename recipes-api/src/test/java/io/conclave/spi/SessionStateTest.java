package io.conclave.spi;

import static io.conclave.spi.SessionState.CLOSED;
import static io.conclave.spi.SessionState.CONNECTED;
import static io.conclave.spi.SessionState.CONNECTING;
import static io.conclave.spi.SessionState.LOST;
import static io.conclave.spi.SessionState.SUSPENDED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SessionStateTest {
    @Test
    void transitionsAreThoseOfTheDiagram() {
        Map<SessionState, Set<SessionState>> legal = Map.of(
                CONNECTING, Set.of(CONNECTED, LOST, CLOSED),
                CONNECTED, Set.of(SUSPENDED, LOST, CLOSED),
                SUSPENDED, Set.of(CONNECTED, LOST, CLOSED),
                LOST, Set.of(),
                CLOSED, Set.of());
        for (SessionState from : SessionState.values()) {
            for (SessionState to : SessionState.values()) {
                assertEquals(legal.getOrDefault(from, Set.of()).contains(to), from.mayBecome(to), from + " -> " + to);
            }
        }
    }
}
