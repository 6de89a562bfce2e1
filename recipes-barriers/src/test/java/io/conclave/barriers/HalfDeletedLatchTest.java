package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.SetAcl;
import io.conclave.testkit.contract.TestStore;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A latch whose parts were deleted by another client, and which may not be made whole by this one. */
class HalfDeletedLatchTest {
    private static final NodePath PATH = NodePath.of("/latch");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.connect();

    @Test
    void countIsRefusedAndNotTriedOverAndOver() throws Exception {
        coordinator.execute(Create.of(PATH).withData(new byte[] {'2'}));
        coordinator.execute(SetAcl.of(PATH, Acl.READ_ONLY));
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> Latch.at(coordinator, PATH, 2).countDownAsync("a").get(120, TimeUnit.SECONDS));
        RefusedException refused = assertInstanceOf(RefusedException.class, failure.getCause());
        assertEquals(RefusalReason.NO_AUTH, refused.reason());
        assertTrue(refused.getMessage().contains(PATH.toString()), refused::getMessage);
    }

    @Test
    void wholeOneIsCountedAlsoByAClientThatMayMakeNoPartOfIt() throws Exception {
        Latch latch = Latch.at(coordinator, PATH, 1);
        latch.countDown("a");
        coordinator.execute(SetAcl.of(PATH, Acl.READ_ONLY));
        latch.countDown("b");
    }
}
