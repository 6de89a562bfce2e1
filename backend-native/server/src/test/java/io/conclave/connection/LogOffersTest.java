package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.Rejection;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LogOffersTest {
    private static final Duration RETRY = Duration.ofMillis(20);

    private final LoneLoop server = new LoneLoop();
    private final ClientConnection connection =
            server.reader(1, LoneLoop.unused(SessionLeases.class)).connection();

    @AfterEach
    void end() {
        server.close();
    }

    private void retry() {
        server.time.advance(RETRY);
        server.finishTask();
    }

    /** Else the next request would overtake the one that waits. */
    @Test
    void oneThatStillWaitsIsWaitedForWhenAnotherHasFoundRoom() {
        ConnectionProposal first = new Offered();
        ConnectionProposal second = new Offered();
        LogOffers offers = new LogOffers(connection);
        server.takes = proposal -> false;
        offers.propose(first);
        offers.propose(second);
        assertTrue(offers.areWaiting());
        server.takes = proposal -> proposal == second;
        retry();
        assertEquals(List.of(second), server.proposed);
        assertTrue(offers.areWaiting());
        server.takes = proposal -> true;
        retry();
        assertEquals(List.of(second, first), server.proposed);
        assertFalse(offers.areWaiting());
    }

    private final class Offered extends ConnectionProposal {
        Offered() {
            super(LogOffersTest.this.connection, new Change.RaiseFeatureLevel(1));
        }

        @Override
        void applied(Applied applied) {}

        @Override
        void refused(Rejection reason) {}
    }
}
