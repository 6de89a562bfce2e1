package io.conclave.barriers;

import io.conclave.testkit.contract.DoubtfulWrites;
import org.junit.jupiter.api.Test;

/** The coordinator is closed before it was found out what became of a write: it must not count as one never sent. */
class ClosedInDoubtTest extends DoubtfulWrites {
    @Test
    void barrierThatIsSetIsUnknown() {
        isUnknownIfClosed(() -> Barrier.at(coordinator, "/barrier").setAsync());
    }

    @Test
    void barrierThatIsRemovedIsUnknown() throws Exception {
        Barrier barrier = Barrier.at(coordinator, "/barrier");
        barrier.set();
        isUnknownIfClosed(barrier::removeAsync);
    }

    @Test
    void countIsUnknown() throws Exception {
        Latch latch = Latch.at(coordinator, "/latch", 2);
        latch.countDown();
        isUnknownIfClosed(latch::countDownAsync);
    }
}
