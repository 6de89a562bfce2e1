package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.grant.RevocationOutcome;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client that asks a holder to give up, and whose connection goes over to a server that lags. */
class RevocationLagTest {
    private static final Duration STEP = Duration.ofMillis(10);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();

    @Test
    void deletionWhoseReplyIsLostIsKnownAsItsOwn() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        try (Coordinator holder = store.connect(new ManualTimeSource());
                Coordinator revoker = store.connect(clock)) {
            DistributedLock.at(holder, "/lock").acquire();
            DistributedLock lock = DistributedLock.at(revoker, "/lock");
            LockMember present = lock.holder().orElseThrow();
            faults.onNext(RecipeAccess.session(revoker).id(), Delete.class::isInstance, RequestFate.DROP_AND_LAG);
            CompletableFuture<RevocationOutcome> asked = lock.requestRelease(present, Duration.ZERO);
            clock.advanceUntil(STEP, asked::isDone);
            assertEquals(RevocationOutcome.DELETED, asked.join());
        }
    }
}
