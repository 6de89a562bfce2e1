package io.conclave.session;

import static io.conclave.session.SessionState.CLOSED;
import static io.conclave.session.SessionState.CONNECTED;
import static io.conclave.session.SessionState.CONNECTING;
import static io.conclave.session.SessionState.LOST;
import static io.conclave.session.SessionState.SUSPENDED;
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
