package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.FixedTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SessionDeadlineTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final FixedTime time = new FixedTime();
    private final SessionDeadline deadline = new SessionDeadline();

    @Test
    void nothingRemainsBeforeTheFirstProof() {
        assertEquals(Duration.ZERO, deadline.remaining());
        assertTrue(deadline.extend(Elapsed.since(time), TIMEOUT));
        assertEquals(TIMEOUT, deadline.remaining());
    }

    @Test
    void countsFromBeforeTheRequestWasQueued() {
        Elapsed queued = Elapsed.since(time);
        time.advance(Duration.ofSeconds(5)); // the answer took its time
        assertTrue(deadline.extend(queued, TIMEOUT));
        assertEquals(Duration.ofMillis(4_950), deadline.remaining());
    }

    @Test
    void anOlderProofDoesNotMoveItBack() {
        Elapsed older = Elapsed.since(time);
        time.advance(Duration.ofSeconds(1));
        deadline.extend(Elapsed.since(time), TIMEOUT);
        assertTrue(deadline.extend(older, TIMEOUT));
        assertEquals(TIMEOUT, deadline.remaining());
    }

    @Test
    void lateProofRevivesNothing() {
        deadline.extend(Elapsed.since(time), TIMEOUT);
        Elapsed justInTime = Elapsed.since(time);
        time.advance(Duration.ofSeconds(9));
        justInTime = Elapsed.since(time);
        time.advance(Duration.ofSeconds(1));
        assertEquals(Duration.ZERO, deadline.remaining());
        assertFalse(deadline.extend(justInTime, TIMEOUT));
        assertEquals(Duration.ZERO, deadline.remaining());
    }

    @Test
    void lateProofDoesNotReviveAnUncheckedDeadline() {
        deadline.extend(Elapsed.since(time), TIMEOUT);
        time.advance(Duration.ofSeconds(10));
        assertFalse(deadline.extend(Elapsed.since(time), TIMEOUT));
        assertEquals(Duration.ZERO, deadline.remaining());
    }

    /** What was told before a wall clock was set ahead, and before the allowance for drift used it up. */
    @Test
    void whatWasPromisedStands() {
        deadline.extend(Elapsed.since(time), TIMEOUT);
        Duration told = deadline.remaining();
        time.millis += Duration.ofHours(1).toMillis();
        assertEquals(Duration.ZERO, deadline.remaining());
        assertEquals(told, deadline.promised());
        time.advance(Duration.ofSeconds(4));
        assertEquals(told.minusSeconds(4), deadline.promised());
        time.advance(Duration.ofSeconds(6));
        assertEquals(Duration.ZERO, deadline.promised());
    }

    @Test
    void shorterTimeoutTakesNoPromiseBack() {
        deadline.extend(Elapsed.since(time), TIMEOUT);
        time.advance(Duration.ofSeconds(1));
        deadline.extend(Elapsed.since(time), Duration.ofSeconds(2));
        assertEquals(Duration.ofSeconds(2), deadline.remaining());
        assertEquals(TIMEOUT.minusSeconds(1), deadline.promised());
    }
}
