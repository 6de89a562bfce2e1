package io.conclave.guards;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.conclave.grant.FencingToken;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Transactions with random tokens all at once, on new resources. Each that is let through reads and writes back a row
 * without any lock but the guard's: a token that went back or an update that got lost would show that two were let
 * through together or in the wrong order.
 */
class JdbcGuardStormTest {
    private static final int THREADS = 6;
    private static final int ROUNDS = 25;

    private final TestDatabase database = new TestDatabase();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final AtomicInteger letThrough = new AtomicInteger();
    private final AtomicInteger stale = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private JdbcGuard guard;
    private String data;

    @AfterEach
    void close() throws Exception {
        database.close();
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(120, SECONDS));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
            })
    void committedTokensNeverGoBackAndNoUpdateIsLost(int isolation) throws Exception {
        long seed = new Random().nextLong();
        System.out.println("isolation " + isolation + ", seed " + seed);
        guard = database.guard();
        data = database.table("data");
        database.run("create table " + data
                + " (resource varchar(20) primary key, commits bigint not null, zxid bigint not null)");
        for (int round = 0; round < ROUNDS; round++) {
            database.run("insert into " + data + " values ('r" + round + "', 0, 0)");
        }
        CyclicBarrier barrier = new CyclicBarrier(THREADS);
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seed + i);
            writers.add(threads.submit(() -> {
                writeAll(isolation, random, barrier);
                return null;
            }));
        }
        for (Future<?> writer : writers) {
            writer.get(120, SECONDS);
        }
        System.out.println(letThrough + " let through, " + stale + " stale, " + ended + " ended by the database");
        assertEquals(letThrough.get(), database.number("select sum(commits) from " + data));
        if (isolation == Connection.TRANSACTION_READ_COMMITTED) {
            assertEquals(0, ended.get(), "READ COMMITTED needs no second attempt");
        }
    }

    private void writeAll(int isolation, Random random, CyclicBarrier barrier) throws Exception {
        try (Connection transaction = database.transaction(isolation)) {
            for (int round = 0; round < ROUNDS; round++) {
                String resource = "r" + round;
                barrier.await(120, SECONDS);
                for (int write = 0; write < 3; write++) {
                    FencingToken token = new FencingToken(1, 1 + random.nextInt(20));
                    writeOnce(transaction, resource, token, random.nextInt(5));
                }
            }
        } catch (Exception | Error e) {
            barrier.reset(); // or the others would wait for this one
            throw e;
        }
    }

    private void writeOnce(Connection transaction, String resource, FencingToken token, int choice)
            throws SQLException {
        try {
            boolean shared = choice == 0;
            if (shared) {
                guard.checkShared(transaction, resource, token);
            } else {
                guard.check(transaction, resource, token);
            }
            readAndWriteBack(transaction, resource, token, shared);
            if (choice == 1) {
                transaction.rollback();
            } else {
                transaction.commit();
                letThrough.incrementAndGet();
            }
        } catch (StaleTokenException e) {
            transaction.rollback();
            assertTrue(e.largest().compareTo(token) > 0, e::toString);
            stale.incrementAndGet();
        } catch (SQLException e) {
            transaction.rollback();
            if (ended.incrementAndGet() == 1) {
                System.out.println("ended by the database, the first one: " + e.getSQLState() + " " + e.getMessage());
            }
        }
    }

    private void readAndWriteBack(Connection transaction, String resource, FencingToken token, boolean shared)
            throws SQLException {
        String where = " from " + data + " where resource = '" + resource + "'";
        long commits = TestDatabase.number(transaction, "select commits" + where);
        long zxid = TestDatabase.number(transaction, "select zxid" + where);
        if (zxid > token.sequence()) {
            fail("token " + token + " was let through after " + zxid);
        }
        try (PreparedStatement update = transaction.prepareStatement(
                "update " + data + " set commits = ?, zxid = ? where resource = ? and commits = ?")) {
            update.setLong(1, commits + 1);
            update.setLong(2, shared ? zxid : token.sequence());
            update.setString(3, resource);
            update.setLong(4, commits);
            assertEquals(1, update.executeUpdate(), "another transaction was let through meanwhile");
        }
    }
}
