package io.conclave.testkit.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.request.Create;
import io.conclave.testkit.driver.SingleNodeLock.Mistake;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The driver is content with a lock that is correct, and finds each mistake that is planted in it. */
class FaultDriverTest {
    private static FaultDriver holder(Mistake... mistakes) {
        return FaultDriver.of("single node lock, holder", run -> {
            prepare(run);
            run.victim().start(me -> hold(me, mistakes));
            run.untilAtRest();
            run.helper("behind").start(me -> hold(me));
        });
    }

    private static FaultDriver waiter(Mistake... mistakes) {
        return FaultDriver.of("single node lock, waiter", run -> {
            prepare(run);
            run.helper("first").start(me -> hold(me));
            run.untilAtRest();
            run.victim().start(me -> hold(me, mistakes));
            run.untilAtRest();
            run.helper("behind").start(me -> hold(me));
        });
    }

    private static void prepare(FaultRun run) throws InterruptedException {
        run.helper("founder").coordinator().execute(Create.of(SingleNodeLock.PARENT));
    }

    private static void hold(Actor actor, Mistake... mistakes) throws InterruptedException {
        HeldClaim claim = new SingleNodeLock(actor.coordinator(), List.of(mistakes)).acquire();
        actor.hold(actor.granted("", Holding.Kind.EXCLUSIVE, claim, 1));
    }

    /** What the driver says of the mistake, in the scenario of a holder or else of a waiter. */
    private static FaultFoundError found(Mistake mistake) {
        int before = 0;
        try {
            before = holder(mistake).verify().total();
        } catch (FaultFoundError error) {
            return told(mistake, error, 0);
        }
        return told(
                mistake,
                assertThrows(FaultFoundError.class, () -> waiter(mistake).verify()),
                before);
    }

    private static FaultFoundError told(Mistake mistake, FaultFoundError error, int before) {
        System.out.println(mistake + " found after " + (before + error.runs()) + " runs: " + error.getMessage());
        return error;
    }

    @Test
    void correctLockPasses() {
        assertTrue(holder().verify().total() > 50);
        assertTrue(waiter().verify().total() > 50);
    }

    @Test
    void findsAnAcquireThatForgetsItsNodeOnInterrupt() {
        FaultFoundError error = found(Mistake.FORGETS_ITS_NODE_ON_INTERRUPT);
        assertTrue(
                error.plan().strikes().stream()
                        .anyMatch(strike -> strike.fault().interrupts()),
                error::getMessage);
    }

    /**
     * A watch that is set survives a reconnect by the contract of the backends; one whose reply was lost never was set.
     */
    @Test
    void findsAWaitForAWatchWhoseReplyWasLost() {
        FaultFoundError error = found(Mistake.WAITS_FOR_A_WATCH_THAT_IS_NOT_SET);
        assertTrue(error.getMessage().contains("lost wake-up"), error::getMessage);
    }

    /** A name that is used again is needed for this; the names of a line have a guid and a number. */
    @Test
    void findsAReleaseThatDeletesByNameOnly() {
        FaultFoundError error = found(Mistake.RELEASES_BY_NAME);
        assertTrue(error.getMessage().contains("lost for no reason: NODE_DELETED"), error::getMessage);
    }

    @Test
    void planIsReadAsItIsWritten() {
        String text = "4:DROP_AFTER@500ms,6:INTERRUPT";
        assertEquals(text, Plan.parse(text).toString());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Plan.parse("4:NO_SUCH"))
                .getMessage()
                .contains("4:NO_SUCH"));
    }
}
