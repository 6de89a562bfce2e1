package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.RevocationOutcome;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client that may ask a holder to give up, but not delete its znode. */
class RefusedRevocationTest {
    private static final NodePath LINE = NodePath.of("/lock");
    private static final Acl NOBODY_DELETES =
            new Acl(List.of(new Acl.Entry(EnumSet.complementOf(EnumSet.of(Permission.DELETE)), "world", "anyone")));

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private Coordinator connect() {
        return Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofHours(1))
                .timeSource(clock)
                .connect();
    }

    @Test
    void refusalAtTheDeadlineLeavesNoWatch() throws Exception {
        try (Coordinator holder = connect();
                Coordinator revoker = connect()) {
            holder.execute(Create.of(LINE).withAcl(NOBODY_DELETES));
            LockGrant grant = DistributedLock.at(holder, LINE).acquire();
            DistributedLock lock = DistributedLock.at(revoker, LINE);
            CompletableFuture<RevocationOutcome> asked =
                    lock.requestRelease(lock.holder().orElseThrow(), Duration.ofSeconds(1));
            Quiescence.await(faults, List.of(holder, revoker));
            assertEquals(1, faults.watchCount(RecipeAccess.session(revoker).id()));
            clock.advance(Duration.ofSeconds(1));
            ExecutionException failure = assertThrows(ExecutionException.class, () -> asked.get(120, SECONDS));
            assertEquals(RefusalReason.NO_AUTH, ((RefusedException) failure.getCause()).reason());
            Quiescence.await(faults, List.of(holder, revoker));
            assertEquals(0, faults.watchCount(RecipeAccess.session(revoker).id()));
            assertTrue(grant.isHeld());
        }
    }
}
