package io.conclave.guards;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.grant.FencingToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the guard of a database promises; see {@link TestDatabase} for which one. */
class JdbcGuardTest {
    private static final String RESOURCE = "orders";

    private final TestDatabase database = new TestDatabase();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private JdbcGuard guard;
    private String data;

    @BeforeEach
    void createTables() throws SQLException {
        guard = database.guard();
        data = database.table("data");
        database.run("create table " + data + " (n bigint not null)");
    }

    @AfterEach
    void close() throws Exception {
        database.close();
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(120, SECONDS));
    }

    private static FencingToken token(long zxid) {
        return new FencingToken(7, zxid);
    }

    private void write(Connection transaction, long n) throws SQLException {
        TestDatabase.run(transaction, "insert into " + data + " values (" + n + ")");
    }

    private long sum() throws SQLException {
        return database.number("select coalesce(sum(n), 0) from " + data);
    }

    /** In a transaction of its own. */
    private void checkAndCommit(FencingToken token) throws SQLException {
        try (Connection transaction = database.transaction()) {
            guard.check(transaction, RESOURCE, token);
            transaction.commit();
        }
    }

    private StaleTokenException refused(FencingToken token) {
        return assertThrows(StaleTokenException.class, () -> checkAndCommit(token));
    }

    @Test
    void tokensOnlyGrow() throws SQLException {
        checkAndCommit(token(5));
        checkAndCommit(token(5));
        checkAndCommit(token(9));
        refused(token(8));
        refused(token(5));
        checkAndCommit(token(9));
    }

    @Test
    void refusalNamesTheResourceTheTokenAndTheLargerOne() throws SQLException {
        checkAndCommit(token(0xb));
        StaleTokenException refusal = refused(token(0xa));
        assertEquals(RESOURCE, refusal.resource());
        assertEquals(token(0xa), refusal.token());
        assertEquals(token(0xb), refusal.largest());
        assertEquals(
                "Token " + token(10) + " of \"orders\" is stale: " + token(11) + " has been seen",
                refusal.getMessage());
    }

    @Test
    void generationIsComparedBeforeTheZxid() throws SQLException {
        checkAndCommit(new FencingToken(1, 1000));
        checkAndCommit(new FencingToken(2, 3)); // the store began anew, and an operator raised the generation
        refused(new FencingToken(1, 1001));
        refused(new FencingToken(2, 2));
        refused(new FencingToken(0, Long.MAX_VALUE));
        checkAndCommit(new FencingToken(2, 4));
    }

    @Test
    void turnIsComparedBehindTheZxid() throws SQLException {
        FencingToken second = new FencingToken(1, 7, 1);
        checkAndCommit(new FencingToken(1, 7));
        checkAndCommit(second);
        checkAndCommit(second);
        assertThrows(StaleTokenException.class, () -> checkAndCommit(new FencingToken(1, 7)));
        checkAndCommit(new FencingToken(1, 7, 2));
        assertThrows(StaleTokenException.class, () -> checkAndCommit(second));
        checkAndCommit(new FencingToken(1, 8));
        assertThrows(StaleTokenException.class, () -> checkAndCommit(new FencingToken(1, 7, 3)));
    }

    @Test
    void resourcesAreIndependent() throws SQLException {
        checkAndCommit(token(9));
        try (Connection transaction = database.transaction()) {
            guard.check(transaction, "invoices", token(1));
            transaction.commit();
        }
        refused(token(8));
    }

    @Test
    void tokenIsForgottenWithTheTransactionThatIsRolledBack() throws SQLException {
        checkAndCommit(token(1));
        try (Connection transaction = database.transaction()) {
            guard.check(transaction, RESOURCE, token(5));
            transaction.rollback();
        }
        checkAndCommit(token(3));
    }

    @Test
    void neitherPassingNorRefusingEndsTheTransaction() throws SQLException {
        checkAndCommit(token(5));
        try (Connection transaction = database.transaction()) {
            write(transaction, 1);
            guard.check(transaction, RESOURCE, token(6));
            assertThrows(StaleTokenException.class, () -> guard.check(transaction, RESOURCE, token(2)));
            assertFalse(transaction.getAutoCommit());
            assertEquals(0, sum(), "committed before its owner did");
            write(transaction, 10);
            transaction.commit();
        }
        assertEquals(11, sum());
    }

    @Test
    void firstTokenOfAResourceEndsNoTransactionEither() throws SQLException {
        try (Connection transaction = database.transaction()) {
            write(transaction, 1);
            guard.check(transaction, RESOURCE, token(6));
            guard.checkShared(transaction, "invoices", token(6));
            assertEquals(0, sum(), "committed before its owner did");
            transaction.rollback();
        }
        assertEquals(0, sum());
        checkAndCommit(token(1));
    }

    /** Both find no row; the second waits for the first one's insert, which then is in its way. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void secondFirstTokenIsComparedWithTheFirst(boolean secondIsShared) throws Exception {
        try (Connection first = database.transaction();
                Connection late = database.transaction()) {
            guard.check(first, RESOURCE, token(5));
            write(late, 1);
            Future<?> check = threads.submit(() -> {
                if (secondIsShared) {
                    guard.checkShared(late, RESOURCE, token(4));
                } else {
                    guard.check(late, RESOURCE, token(4));
                }
                return null;
            });
            database.awaitBlockedTransaction();
            assertFalse(check.isDone());
            first.commit();
            ExecutionException failure = assertThrows(ExecutionException.class, () -> check.get(120, SECONDS));
            assertTrue(failure.getCause() instanceof StaleTokenException, failure::toString);
            late.commit(); // its owner may; what it wrote before is still there
        }
        assertEquals(1, sum());
    }

    @Test
    void secondFirstTokenPassesIfItIsLarger() throws Exception {
        try (Connection first = database.transaction();
                Connection second = database.transaction()) {
            guard.check(first, RESOURCE, token(5));
            write(second, 1);
            Future<?> check = threads.submit(() -> {
                guard.check(second, RESOURCE, token(6));
                return null;
            });
            database.awaitBlockedTransaction();
            first.commit();
            check.get(120, SECONDS);
            second.commit();
        }
        assertEquals(1, sum());
        refused(token(5));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void smallerTokenPassesWhenTheLargerOneIsRolledBack(boolean hasRow) throws Exception {
        if (hasRow) {
            checkAndCommit(token(1));
        }
        try (Connection first = database.transaction();
                Connection second = database.transaction()) {
            guard.check(first, RESOURCE, token(5));
            Future<?> check = threads.submit(() -> {
                guard.check(second, RESOURCE, token(4));
                return null;
            });
            database.awaitBlockedTransaction();
            first.rollback();
            check.get(120, SECONDS);
            second.commit();
        }
        refused(token(3));
        checkAndCommit(token(4));
    }

    @Test
    void nextHolderWaitsUntilAStartedWriteIsThrough() throws Exception {
        checkAndCommit(token(5));
        try (Connection old = database.transaction();
                Connection next = database.transaction()) {
            guard.check(old, RESOURCE, token(5)); // the same token again: it must lock anyway
            Future<Long> seen = threads.submit(() -> {
                guard.check(next, RESOURCE, token(6));
                return TestDatabase.number(next, "select count(*) from " + data);
            });
            database.awaitBlockedTransaction();
            write(old, 1);
            old.commit();
            assertEquals(1, seen.get(120, SECONDS), "the next holder has overtaken a write that was let through");
            next.commit();
        }
        refused(token(5));
    }

    @Test
    void lateWriteThatWaitsForTheNextHolderIsRefused() throws Exception {
        checkAndCommit(token(5));
        try (Connection next = database.transaction();
                Connection late = database.transaction()) {
            guard.check(next, RESOURCE, token(6));
            Future<?> check = threads.submit(() -> {
                guard.check(late, RESOURCE, token(5));
                return null;
            });
            database.awaitBlockedTransaction();
            next.commit();
            ExecutionException failure = assertThrows(ExecutionException.class, () -> check.get(120, SECONDS));
            assertTrue(failure.getCause() instanceof StaleTokenException, failure::toString);
            late.rollback();
        }
    }

    @Test
    void sharedCheckNeverAdvances() throws SQLException {
        checkAndCommit(token(5));
        try (Connection reader = database.transaction()) {
            guard.checkShared(reader, RESOURCE, token(5));
            guard.checkShared(reader, RESOURCE, token(8));
            reader.commit();
            StaleTokenException refusal =
                    assertThrows(StaleTokenException.class, () -> guard.checkShared(reader, RESOURCE, token(4)));
            assertEquals(token(5), refusal.largest());
            reader.rollback();
        }
        checkAndCommit(token(6)); // smaller than that of a reader: they may stand beside each other
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writerWaitsForTheSharedCheckThatWasLetThrough(boolean hasRow) throws Exception {
        if (hasRow) {
            checkAndCommit(token(1));
        }
        try (Connection reader = database.transaction();
                Connection writer = database.transaction()) {
            guard.checkShared(reader, RESOURCE, token(5));
            Future<?> check = threads.submit(() -> {
                guard.check(writer, RESOURCE, token(6));
                return null;
            });
            database.awaitBlockedTransaction();
            assertFalse(check.isDone());
            reader.commit();
            check.get(120, SECONDS);
            writer.commit();
        }
        refused(token(5));
    }

    @Test
    void autocommitIsRefused() throws SQLException {
        try (Connection connection = database.autocommitting()) {
            IllegalStateException refusal =
                    assertThrows(IllegalStateException.class, () -> guard.check(connection, RESOURCE, token(1)));
            assertTrue(refusal.getMessage().contains("autocommit"), refusal::getMessage);
            assertThrows(IllegalStateException.class, () -> guard.checkShared(connection, RESOURCE, token(1)));
        }
    }

    @Test
    void resourceNamesHaveALimit() throws SQLException {
        try (Connection transaction = database.transaction()) {
            guard.check(transaction, "r".repeat(255), token(1));
            assertThrows(IllegalArgumentException.class, () -> guard.check(transaction, "r".repeat(256), token(1)));
            assertThrows(IllegalArgumentException.class, () -> guard.checkShared(transaction, "", token(1)));
            guard.check(transaction, "'; drop table " + data + "; --", token(1));
            transaction.commit();
        }
        assertEquals(0, sum());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1a", "a b", "a;b", "a-b", "\"a\"", "a.", ".a", "a.b.c.d", "tokens\n", "tökens"})
    void tableNameMustBePlain(String table) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> JdbcGuard.on(table));
        assertTrue(refusal.getMessage().contains("\"" + table + "\""), refusal::getMessage);
    }

    @Test
    void tableMayLieInASchema() {
        assertTrue(JdbcGuard.on("app.fencing").tableDefinition().startsWith("create table app.fencing ("));
        assertEquals("JdbcGuard[conclave_fencing]", JdbcGuard.create().toString());
    }

    @Test
    void tableIsCreatedOnceHoweverManyTry() throws Exception {
        JdbcGuard fresh = JdbcGuard.on(database.table("fresh"));
        CountDownLatch start = new CountDownLatch(1);
        List<Future<?>> creations = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            creations.add(threads.submit(() -> {
                try (Connection connection = database.autocommitting()) {
                    start.await();
                    fresh.createTable(connection);
                    return null;
                }
            }));
        }
        start.countDown();
        for (Future<?> creation : creations) {
            creation.get(120, SECONDS);
        }
        try (Connection transaction = database.transaction()) {
            assertThrows(IllegalStateException.class, () -> fresh.createTable(transaction));
            fresh.check(transaction, RESOURCE, token(1));
        }
    }

    @Test
    void missingTableIsTheDatabasesError() throws SQLException {
        JdbcGuard lacking = JdbcGuard.on(database.table("lacking"));
        try (Connection transaction = database.transaction()) {
            assertThrows(SQLException.class, () -> lacking.check(transaction, RESOURCE, token(1)));
        }
    }

    @Test
    void pageHasTheTableThatIsCreated() throws IOException {
        String page = Files.readString(Path.of("../docs/fencing.md"));
        int begin = page.indexOf("```sql\n") + 7;
        String onPage = page.substring(begin, page.indexOf("```", begin));
        assertEquals(
                JdbcGuard.create().tableDefinition(),
                onPage.strip().replaceAll("\\s+", " ").replace("( ", "("));
    }
}
