package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.grant.FencingToken;
import io.conclave.guards.JdbcGuard;
import io.conclave.guards.StaleTokenException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Sync;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an operator does when servers are lost, by the launcher's commands, and what it means for those that hold locks.
 */
abstract class RecoveryScenarios {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final NodePath NUMBERS = NodePath.of("/numbers");
    private static final NodePath LOCK = NodePath.of("/locks/orders");
    private static final int RESTORED_NUMBERS = 50;

    @TempDir
    Path home;

    /** What the servers have in their configuration beside the usual. */
    abstract EnsembleBuilder configured(EnsembleBuilder ensemble);

    private Ensemble start() {
        return configured(Ensemble.of(EnsembleKind.CONCLAVE, home)
                        .ticks(500, 20, 4)
                        .withSmallJvms())
                .start();
    }

    /** The database that a guard protects, in this process: it knows nothing of the restore. */
    private static final class Orders implements AutoCloseable {
        private final JdbcGuard guard = JdbcGuard.create();
        private final Connection connection;

        Orders() throws Exception {
            connection = DriverManager.getConnection("jdbc:h2:mem:");
            guard.createTable(connection);
            connection.setAutoCommit(false);
        }

        void write(FencingToken token) throws Exception {
            guard.check(connection, "orders", token);
            connection.commit();
        }

        void assertRefuses(FencingToken token) throws Exception {
            assertThrows(StaleTokenException.class, () -> guard.check(connection, "orders", token));
            connection.rollback();
        }

        @Override
        public void close() throws Exception {
            connection.close();
        }
    }

    @Test
    @Timeout(300)
    void aHolderFromBeforeARestoreIsRefusedAndTheNextOneIsNot() throws Exception {
        Path backup = home.resolve("conclave.backup");
        try (Ensemble ensemble = start();
                Orders orders = new Orders();
                Coordinator survivor = connect(ensemble.connectString())) {
            Member leader = ensemble.awaitAllServing();
            writeNumbers(survivor, 0, RESTORED_NUMBERS);
            ensemble.others(leader).get(0).command("backup", backup.toString());
            writeNumbers(survivor, RESTORED_NUMBERS, RESTORED_NUMBERS);
            for (int i = 0; i < 5; i++) { // so that the last token is far above the backup's zxid
                DistributedLock.at(survivor, LOCK).acquire().close();
            }
            LockGrant before = DistributedLock.at(survivor, LOCK).acquire();
            orders.write(before.token());

            for (Member member : ensemble.members()) {
                member.kill();
                member.wipe();
            }
            Member first = ensemble.member(2);
            String said = first.command("restore", backup.toString());
            assertTrue(said.contains("Then start the servers [1, 3], with empty directories"), said);
            ensemble.members().forEach(Member::start);
            ensemble.awaitAllServing();

            Awaitility.await("the old session is refused")
                    .atMost(PATIENCE)
                    .until(() -> before.lost().toCompletableFuture().isDone());
            LockGrant after = DistributedLock.at(survivor, LOCK).acquire(PATIENCE);
            assertTrue(after.token().compareTo(before.token()) > 0, after.token() + " after " + before.token());
            assertTrue(after.token().generation() > before.token().generation());
            orders.write(after.token());
            orders.assertRefuses(before.token());
            after.close();
            for (Member member : ensemble.members()) {
                assertNumbers(ensemble, member, RESTORED_NUMBERS);
                try (Coordinator client = connect(ensemble.connectString(member))) {
                    Awaitility.await("three votes")
                            .atMost(PATIENCE)
                            .until(() -> Members.in(client).voters() == 3);
                }
            }
        }
    }

    @Test
    @Timeout(300)
    void theLastMemberGoesOnAsANewClusterWhenTheOthersAreLost() throws Exception {
        try (Ensemble ensemble = start();
                Orders orders = new Orders();
                Coordinator survivor = connect(ensemble.connectString())) {
            Member left = ensemble.others(ensemble.awaitAllServing()).get(0);
            writeNumbers(survivor, 0, RESTORED_NUMBERS);
            LockGrant before = DistributedLock.at(survivor, LOCK).acquire();
            orders.write(before.token());
            assertNumbers(ensemble, left, RESTORED_NUMBERS);
            left.terminate();
            String refusal = failure(left, "force-new-cluster", "--yes");
            assertTrue(refusal.contains(" belongs to cluster "), refusal);
            for (Member lost : ensemble.others(left)) {
                lost.kill();
                lost.wipe();
            }

            String warning = failure(left, "force-new-cluster");
            assertTrue(warning.contains("Nothing was changed. With --yes"), warning);
            assertTrue(warning.contains("of the voters [1, 2, 3]"), warning);
            String said = left.command("force-new-cluster", "--yes");
            assertTrue(said.contains("Made a new cluster in "), said);
            ensemble.members().forEach(Member::start);
            ensemble.awaitAllServing();

            Awaitility.await("the old session is refused")
                    .atMost(PATIENCE)
                    .until(() -> before.lost().toCompletableFuture().isDone());
            LockGrant after = DistributedLock.at(survivor, LOCK).acquire(PATIENCE);
            assertTrue(after.token().generation() > before.token().generation());
            orders.write(after.token());
            orders.assertRefuses(before.token());
            for (Member member : ensemble.members()) {
                assertNumbers(ensemble, member, RESTORED_NUMBERS);
            }
        }
    }

    /** Runs a command that fails; returns what it has printed. */
    private static String failure(Member member, String word, String... arguments) {
        return String.valueOf(assertThrows(IllegalStateException.class, () -> member.command(word, arguments))
                .getMessage());
    }

    private static void writeNumbers(Coordinator client, int from, int count) throws InterruptedException {
        if (from == 0) {
            client.execute(Create.of(NUMBERS));
        }
        for (int i = from; i < from + count; i++) {
            client.execute(Create.of(NUMBERS.child("n" + i)).withData(StoreClient.bytes(i)));
        }
    }

    private static void assertNumbers(Ensemble ensemble, Member member, int count) throws InterruptedException {
        try (Coordinator client = connect(ensemble.connectString(member))) {
            client.execute(Sync.of(NUMBERS));
            assertEquals(count, client.execute(GetChildren.of(NUMBERS)).names().size());
            for (int i = 0; i < count; i++) {
                assertArrayEquals(
                        StoreClient.bytes(i),
                        client.execute(GetData.of(NUMBERS.child("n" + i))).data());
            }
        }
    }

    private static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString)
                .sessionTimeout(Duration.ofSeconds(10))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
