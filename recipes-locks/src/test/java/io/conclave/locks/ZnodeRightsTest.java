package io.conclave.locks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.session.Authentication;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a default ACL must give to the client that creates: a place that it cannot watch is not granted. */
class ZnodeRightsTest {
    private static final NodePath LINE = NodePath.of("/locks/orders");
    private static final Acl NOBODY_READS =
            new Acl(List.of(new Acl.Entry(EnumSet.complementOf(EnumSet.of(Permission.READ)), "world", "anyone")));

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final List<Coordinator> coordinators = new ArrayList<>();

    @BeforeEach
    void makeTheLineAsSomebodyElse() throws Exception {
        Coordinator other = connect("other", Acl.OPEN);
        for (String path : List.of("/locks", "/locks/orders", "/locks/other")) {
            other.execute(Create.of(NodePath.of(path)));
        }
    }

    @AfterEach
    void close() {
        coordinators.forEach(Coordinator::close);
        MemoryStore.forget(store);
    }

    private Coordinator connect(String user, Acl acl) {
        Coordinator coordinator = Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofMinutes(5))
                .timeSource(clock)
                .authentication(Authentication.digest(user, "secret"))
                .defaultAcl(acl)
                .connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    private static Acl readBy(String scheme, String id) {
        return new Acl(List.of(
                new Acl.Entry(EnumSet.of(Permission.READ), scheme, id),
                new Acl.Entry(EnumSet.complementOf(EnumSet.of(Permission.READ)), "world", "anyone")));
    }

    private static void assertRefusedByName(Callable<?> acquire) {
        RefusedException refused = assertThrows(RefusedException.class, acquire::call);
        assertEquals(RefusalReason.NO_AUTH, refused.reason());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("/locks/"), message);
        assertTrue(message.contains("READ"), message);
        assertTrue(message.contains("default ACL"), message);
    }

    @Test
    void lockIsRefusedWhoseZnodeNobodyMayRead() throws Exception {
        Coordinator blind = connect("blind", NOBODY_READS);
        DistributedLock lock = DistributedLock.at(blind, LINE);
        assertRefusedByName(() -> lock.acquire());
        assertRefusedByName(() -> lock.tryAcquire());
        assertRefusedByName(() ->
                MultiLock.of(lock, DistributedLock.at(blind, "/locks/other")).acquire());
        try (LockGrant next =
                DistributedLock.at(connect("next", Acl.OPEN), LINE).acquire()) {
            assertTrue(next.isHeld());
        }
    }

    @Test
    void lockIsRefusedWhoseZnodeOnlyAnotherIdentityMayRead() throws Exception {
        Coordinator blind = connect("blind", readBy("digest", "other:AAAAAAAAAAAAAAAAAAAAAAAAAAA="));
        assertRefusedByName(() -> DistributedLock.at(blind, LINE).acquire());
    }

    @Test
    void lockIsHeldWhoseZnodeItsCreatorMayRead() throws Exception {
        Coordinator owner = connect("owner", readBy("auth", ""));
        DistributedLock lock = DistributedLock.at(owner, LINE).withData("owner".getBytes(UTF_8));
        for (int i = 0; i < 2; i++) {
            try (LockGrant grant = lock.acquire()) {
                clock.advance(Duration.ofSeconds(1)); // past the moment when a hold is watched
                Quiescence.await(MemoryStore.named(store).faults(), List.of(owner));
                assertTrue(grant.isHeld());
                assertFalse(grant.lost().toCompletableFuture().isDone());
            }
        }
    }
}
