package io.conclave.membership;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A znode of another client, which may be read and not written, stands where one is to be kept. */
class KeptNodeWithoutRightsTest {
    private static final NodePath NODE = NodePath.of("/kept");
    private static final byte[] OURS = {1};
    private static final byte[] OTHERS = {2};

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator other = store.connect();
    private final Coordinator own = store.connect();

    private Create othersReadOnly() {
        return Create.of(NODE).withData(OTHERS).withMode(CreateMode.PERSISTENT).withAcl(Acl.READ_ONLY);
    }

    /** Counts the attempts to write it. */
    private AtomicInteger writes() {
        AtomicInteger writes = new AtomicInteger();
        store.faults().intercept((session, request, index) -> {
            if (request instanceof SetData) {
                writes.incrementAndGet();
            }
            return RequestFate.PROCEED;
        });
        return writes;
    }

    private byte[] data() throws InterruptedException {
        return other.execute(Exists.of(NODE)).isEmpty()
                ? new byte[0]
                : other.execute(GetData.of(NODE)).data();
    }

    @Test
    void keptOneIsWrittenAgainWhenItMayBe() throws Exception {
        KeptNode node = KeptNode.persistent(own, NODE, OURS);
        node.created().get(60, SECONDS);
        AtomicInteger writes = writes();
        other.execute(Multi.of(Delete.of(NODE), othersReadOnly()));
        await().until(() -> writes.get() >= 2 || node.state() == KeptNodeState.CLOSED);
        assertEquals(KeptNodeState.PRESENT, node.state());
        CompletableFuture<Void> update = node.updateAsync(new byte[] {3});
        Exception failure = assertThrows(ExecutionException.class, () -> update.get(60, SECONDS));
        assertInstanceOf(RefusedException.class, failure.getCause());
        other.execute(Delete.of(NODE));
        await().until(() -> Arrays.equals(data(), OURS)); // the last data that was accepted
        node.updateAsync(new byte[] {4}).get(60, SECONDS);
        node.closeAsync().get(60, SECONDS);
    }

    @Test
    void oneThatWasNeverThereWithItsDataIsGivenUp() throws Exception {
        other.execute(othersReadOnly());
        KeptNode node = KeptNode.persistent(own, NODE, OURS);
        Exception failure =
                assertThrows(ExecutionException.class, () -> node.created().get(60, SECONDS));
        assertInstanceOf(RefusedException.class, failure.getCause());
        assertEquals(KeptNodeState.CLOSED, node.state());
    }
}
