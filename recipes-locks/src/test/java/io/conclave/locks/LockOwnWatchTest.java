package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** The watch on the own znode fires once; while it is not set again, nothing is known of that znode. */
class LockOwnWatchTest {
    private static final String PATH = "/locks/watched";

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .connect();
    }

    @Test
    void waiterWithADeletedZnodeIsNotGrantedWhenTheHeadLeaves() throws Exception {
        try (Coordinator holder = connect();
                Coordinator victim = connect()) {
            LockGrant grant = DistributedLock.at(holder, PATH).acquire();
            CompletableFuture<LockGrant> waiter =
                    DistributedLock.at(victim, PATH).acquireAsync();
            long session = RecipeAccess.session(victim).id();
            await().until(() -> faults.watchCount(session) == 2);
            NodePath znode = DistributedLock.at(holder, PATH).members().get(1).path();
            faults.holdReplies(session);
            holder.execute(SetData.of(znode, new byte[] {1}));
            holder.execute(Delete.of(znode)); // by now it is not watched any more
            grant.close();
            faults.releaseReplies(session);
            ExecutionException failure = assertThrows(ExecutionException.class, () -> waiter.get(120, SECONDS));
            assertInstanceOf(GrantLostException.class, failure.getCause());
        } finally {
            MemoryStore.forget(store);
        }
    }
}
