package io.conclave.guards;

import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/**
 * The database of a test: H2 inside this JVM, or whatever {@code -Dconclave.jdbc.url} names. Tables have names of their
 * own and are dropped at the end.
 *
 * <p>H2 is the default because it needs nothing but a jar and has row locks and READ COMMITTED; a real server is named
 * now and then because its locking is what the guard rests on, and PostgreSQL's differs where it matters: a failed
 * insert spoils the transaction.
 */
final class TestDatabase implements AutoCloseable {
    private static final String URL = System.getProperty("conclave.jdbc.url", "");

    private final String suffix = UUID.randomUUID().toString().replace("-", "");
    private final String url = URL.isEmpty() ? "jdbc:h2:mem:" + suffix + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000" : URL;
    private final List<String> tables = Collections.synchronizedList(new ArrayList<>());
    private final List<Connection> connections = Collections.synchronizedList(new ArrayList<>());

    /** A name of a table that no other test has. */
    String table(String name) {
        String table = name + "_" + suffix;
        tables.add(table);
        return table;
    }

    /** A guard with its table. */
    JdbcGuard guard() throws SQLException {
        JdbcGuard guard = JdbcGuard.on(table("fencing"));
        try (Connection connection = autocommitting()) {
            guard.createTable(connection);
        }
        return guard;
    }

    Connection autocommitting() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connections.add(connection);
        return connection;
    }

    /** A connection that begins a transaction with its first statement. */
    Connection transaction() throws SQLException {
        return transaction(Connection.TRANSACTION_READ_COMMITTED);
    }

    Connection transaction(int isolation) throws SQLException {
        Connection connection = autocommitting();
        connection.setTransactionIsolation(isolation);
        connection.setAutoCommit(false);
        return connection;
    }

    void run(String sql) throws SQLException {
        try (Connection connection = autocommitting()) {
            run(connection, sql);
        }
    }

    static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of the first row. */
    long number(String sql) throws SQLException {
        try (Connection connection = autocommitting()) {
            return number(connection, sql);
        }
    }

    static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Returns when some transaction waits for a lock of another one. */
    void awaitBlockedTransaction() throws SQLException {
        try (Connection connection = autocommitting()) {
            String waiters = connection.getMetaData().getDatabaseProductName().equals("H2")
                    ? "select count(*) from information_schema.sessions where blocker_id is not null"
                            + " or executing_statement like 'insert into fencing%'" // waits without a blocker
                    : "select count(*) from pg_locks where not granted";
            await().pollInterval(Duration.ofMillis(2)).until(() -> number(connection, waiters) > 0);
        }
    }

    @Override
    public void close() throws SQLException {
        for (Connection connection : connections) {
            connection.close(); // rolls back what is open, so that nothing holds a lock on a table
        }
        for (String table : tables) {
            run("drop table if exists " + table);
        }
        if (URL.isEmpty()) {
            run("shutdown");
        }
    }
}
