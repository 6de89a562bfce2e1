package io.conclave.barriers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.request.SetAcl;
import io.conclave.testkit.contract.TestStore;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which rights a waiter and a look need. */
class LatchRightsTest {
    private static final NodePath PARENT = NodePath.of("/latches");
    private static final NodePath PATH = PARENT.child("one");
    private static final Acl NOBODY_READS =
            new Acl(List.of(new Acl.Entry(EnumSet.complementOf(EnumSet.of(Permission.READ)), "world", "anyone")));

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.connect();

    @BeforeEach
    void makeTheParent() throws Exception {
        coordinator.execute(Create.of(PARENT));
    }

    private static void isRefused(CompletableFuture<?> outcome) {
        Throwable failure = assertThrows(ExecutionException.class, () -> outcome.get(120, SECONDS))
                .getCause();
        assertEquals(
                RefusalReason.NO_AUTH,
                assertInstanceOf(RefusedException.class, failure).reason());
    }

    @Test
    void clientThatMayOnlyReadWaitsForALatchThatIsThere() throws Exception {
        Latch latch = Latch.at(coordinator, PATH, 2);
        latch.countDown("a");
        coordinator.execute(SetAcl.of(PARENT, Acl.READ_ONLY));
        CompletableFuture<Void> opened = latch.awaitAsync();
        latch.countDown("b");
        opened.get(120, SECONDS);
        assertThrows(IllegalArgumentException.class, () -> Latch.at(coordinator, PATH, 3)
                .await());
    }

    @Test
    void clientThatMayNotMakeTheLatchIsRefusedIfItIsNotThere() throws Exception {
        coordinator.execute(SetAcl.of(PARENT, Acl.READ_ONLY));
        isRefused(Latch.at(coordinator, PATH, 2).awaitAsync());
    }

    @Test
    void whatRemainsNeedsReadOnlyWhereTheLatchMayBeAnother() throws Exception {
        Latch.at(coordinator, PATH, 2).countDown("a");
        coordinator.execute(SetAcl.of(PATH, NOBODY_READS));
        assertEquals(1, Latch.at(coordinator, PATH, 2).remaining());
        isRefused(Latch.at(coordinator, PATH, 3).remainingAsync());
        isRefused(Latch.at(coordinator, PATH, 2).awaitAsync());
    }
}
