package io.conclave.shedlock;

import io.conclave.testkit.driver.Mistake;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The scenarios that our locks pass find the mistakes that such locks usually have, planted into one step of ours. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
@ResourceLock("net.javacrumbs.shedlock.core.ClockProvider")
class ShedLockMistakesTest {
    @Test
    void lockWithoutAVersionIsFound() {
        ShedLockFaultsTest.untilAtMostExtended()
                .find(Mistake.forgetsVersions("multi .*set /faults/job .*"), "was not extended|two are at the task");
    }

    @Test
    void lockThatIsSentAgainIsFound() {
        ShedLockFaultsTest.untilAtMost()
                .find(Mistake.sendsAgain("multi .*set /faults/job.*"), "two are at the task|of a successor");
    }

    @Test
    void lostUnlockIsFound() {
        ShedLockFaultsTest.untilAtMost().find(Mistake.takesForDone("multi .*set /faults/job.*"), "is not free");
    }
}
