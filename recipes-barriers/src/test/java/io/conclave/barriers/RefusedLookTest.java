package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.testkit.contract.DoubtfulWrites;
import io.conclave.testkit.memory.RequestFate;
import org.junit.jupiter.api.Test;

/** The reply of a write is lost, and the look what became of it is refused: that says nothing of the write. */
class RefusedLookTest extends DoubtfulWrites {
    private Barrier barrier() {
        return Barrier.at(coordinator, "/barrier");
    }

    private Latch latch() {
        return Latch.at(coordinator, "/latch", 3);
    }

    @Test
    void countIsLookedForAgain() throws Exception {
        latch().countDown();
        isFoundOut(latch()::countDownAsync);
        assertEquals(1, latch().remaining());
    }

    @Test
    void countThatMayNotBeLookedForIsUnknown() throws Exception {
        latch().countDown();
        isUnknown(latch()::countDownAsync);
        assertEquals(1, latch().remaining());
    }

    @Test
    void barrierThatIsSetIsLookedForAgain() throws Exception {
        isFoundOut(barrier()::setAsync);
        assertTrue(barrier().isSet());
    }

    @Test
    void barrierThatWasNotSetIsSetAfterALookThatWasRefusedAtFirst() throws Exception {
        write(barrier()::setAsync, RequestFate.DROP_BEFORE, RefusalReason.LIMIT_EXCEEDED, 3)
                .join();
        assertTrue(barrier().isSet());
    }

    @Test
    void barrierThatMayNotBeLookedForIsUnknown() throws Exception {
        isUnknown(barrier()::setAsync);
        assertTrue(barrier().isSet());
    }

    @Test
    void refusedBarrierIsRefused() throws Exception {
        faults.refuse(request -> !request.isRead(), RefusalReason.NO_AUTH);
        assertThrows(RefusedException.class, barrier()::set);
        faults.clear();
        assertFalse(barrier().isSet());
    }

    @Test
    void removalIsLookedForAgain() throws Exception {
        barrier().set();
        isFoundOut(barrier()::removeAsync);
        assertFalse(barrier().isSet());
    }

    @Test
    void removalThatMayNotBeLookedForIsUnknown() throws Exception {
        barrier().set();
        isUnknown(barrier()::removeAsync);
        assertFalse(barrier().isSet());
    }
}
