package io.conclave.guards;

import io.conclave.grant.FencingToken;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lets a transaction of a relational database through only if no transaction with a larger token came before: one
 * table, one row a resource, which remembers the largest token seen. See Kleppmann, "How to do distributed locking".
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * guard.check(connection, "orders", grant.token());
 * ... // writes of the same transaction
 * connection.commit();
 * }</pre>
 *
 * <p>A check locks the resource's row until the transaction ends, so guarded transactions of one resource come one
 * after the other and the order of tokens is that of commits. It is sound from READ COMMITTED upwards; in a stricter
 * level the database may end it with a serialization failure, as it may any statement. A guard never commits, never
 * rolls back what it has not done itself, and never changes the connection's settings. What JDBC throws goes through as
 * it is, because a transaction's owner looks at its SQL state to decide whether to try again.
 *
 * <p>Plain SQL-92 but for {@code select ... for update}; run against H2 2.3 and PostgreSQL 15 (docs/fencing.md).
 * Immutable and thread-safe; all methods that take a connection block on the database.
 */
public final class JdbcGuard {
    /** The table unless another one is named. */
    public static final String DEFAULT_TABLE = "conclave_fencing";

    /** The longest name of a resource, in characters. */
    public static final int MAX_RESOURCE_LENGTH = 255;

    private static final Pattern TABLE = Pattern.compile("([A-Za-z_]\\w{0,62}\\.){0,2}[A-Za-z_]\\w{0,62}");
    /** Smaller than every token that a grant has; in a row that a shared check has made. */
    private static final FencingToken NONE = new FencingToken(0, 0);
    /** One that finds no row, one that finds the row of a quicker transaction, one to spare. */
    private static final int ATTEMPTS = 3;

    private final String table;
    private final String raise;
    private final String lock;
    private final String insert;

    private JdbcGuard(String table) {
        this.table = table;
        this.raise = "update " + table + " set generation = ?, sequence_number = ?, turn = ? where resource = ?"
                + " and (generation < ? or (generation = ? and (sequence_number < ?"
                + " or (sequence_number = ? and turn <= ?))))";
        this.lock = "select generation, sequence_number, turn from " + table + " where resource = ? for update";
        this.insert = "insert into " + table + " (resource, generation, sequence_number, turn) values (?, ?, ?, ?)";
    }

    /** The guard with its tokens in {@value #DEFAULT_TABLE}. */
    public static JdbcGuard create() {
        return on(DEFAULT_TABLE);
    }

    /**
     * The guard with its tokens in a table of another name, in a schema or not.
     *
     * @throws IllegalArgumentException if it is not made of one to three plain identifiers with dots between them
     */
    public static JdbcGuard on(String table) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException("Invalid table name \"" + table
                    + "\": it must be an identifier of ASCII letters, digits and '_', at most 63 of them and no digit "
                    + "first, with catalog and schema before it if need be");
        }
        return new JdbcGuard(table);
    }

    /** The statement that creates the table, for applications that keep their schema in scripts. */
    public String tableDefinition() {
        return "create table " + table + " (resource varchar(" + MAX_RESOURCE_LENGTH
                + ") not null primary key, generation bigint not null, sequence_number bigint not null,"
                + " turn bigint not null)";
    }

    /**
     * Creates the table unless it is there; several may do so at once.
     *
     * @param connection in autocommit mode: many databases commit whatever transaction is open when a table is created
     * @throws IllegalStateException if the connection is not in autocommit mode
     * @throws SQLException if the database refuses it
     */
    public void createTable(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            throw new IllegalStateException("Invalid connection for creating " + table
                    + ": it must be in autocommit mode, or its transaction might be committed with the table");
        }
        if (hasTable(connection)) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(tableDefinition());
        } catch (SQLException e) {
            if (!hasTable(connection)) {
                throw e;
            }
        }
    }

    private boolean hasTable(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select resource, generation, sequence_number, turn from " + table + " where 1 = 0");
            return true;
        } catch (SQLException e) {
            return false; // if it is another trouble than that, the creation meets it as well
        }
    }

    /**
     * Checks an exclusive grant: remembers its token as the largest one of the resource, or refuses it. What the
     * transaction writes, before or after, takes effect together with this or not at all. To be called before the
     * writes: transactions that lock in another order may deadlock.
     *
     * @param connection with a transaction of the caller's
     * @param resource what is guarded; tokens of different locks must not meet in one
     * @param token the grant's
     * @throws StaleTokenException if a larger token has been seen; the transaction is still open, and is to be rolled
     *     back by its owner
     * @throws IllegalStateException if the connection is in autocommit mode
     * @throws IllegalArgumentException if the resource's name is empty or too long
     * @throws SQLException if the database fails; the transaction is to be rolled back by its owner
     */
    public void check(Connection connection, String resource, FencingToken token) throws SQLException {
        refuseBadInput(connection, resource);
        SQLException quicker = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (raise(connection, resource, token)) {
                return;
            }
            Optional<FencingToken> largest = lock(connection, resource);
            if (largest.isPresent()) {
                refuseIfStale(resource, token, largest.get());
                if (token.equals(largest.get())) {
                    return; // a driver that counts changed rows only said that there was none
                }
                continue; // the row has come since; it is ours now
            }
            quicker = insertUnlessThere(connection, resource, token);
            if (quicker == null) {
                return;
            }
        }
        throw givenUp(resource, quicker);
    }

    /**
     * Checks a shared grant: refuses its token if an exclusive one that is larger has been seen, and remembers nothing.
     * Until the transaction ends no exclusive grant passes; nor does another shared one, because portable SQL has
     * exclusive row locks only. For a resource never seen it makes the row, so that there is something to lock; so the
     * transaction must not be read-only.
     *
     * @param connection with a transaction of the caller's
     * @param resource what is guarded
     * @param token the grant's
     * @throws StaleTokenException if a larger token has been seen
     * @throws IllegalStateException if the connection is in autocommit mode
     * @throws IllegalArgumentException if the resource's name is empty or too long
     * @throws SQLException if the database fails; the transaction is to be rolled back by its owner
     */
    public void checkShared(Connection connection, String resource, FencingToken token) throws SQLException {
        refuseBadInput(connection, resource);
        SQLException quicker = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Optional<FencingToken> largest = lock(connection, resource);
            if (largest.isPresent()) {
                refuseIfStale(resource, token, largest.get());
                return;
            }
            quicker = insertUnlessThere(connection, resource, NONE);
            if (quicker == null) {
                return;
            }
        }
        throw givenUp(resource, quicker);
    }

    private void refuseBadInput(Connection connection, String resource) throws SQLException {
        if (resource.isEmpty() || resource.length() > MAX_RESOURCE_LENGTH) {
            throw new IllegalArgumentException(
                    "Invalid resource \"" + resource + "\": it must have 1 to " + MAX_RESOURCE_LENGTH + " characters");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("Invalid connection for the guard of \"" + resource
                    + "\": it is in autocommit mode, and the check and the writes must be one transaction");
        }
    }

    private static void refuseIfStale(String resource, FencingToken token, FencingToken largest) {
        if (token.compareTo(largest) < 0) {
            throw new StaleTokenException(resource, token, largest);
        }
    }

    /**
     * Waits for the transaction that has locked the row, then reads what it left. Also for an equal token it writes,
     * for the sake of the lock.
     */
    private boolean raise(Connection connection, String resource, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(raise)) {
            statement.setLong(1, token.generation());
            statement.setLong(2, token.sequence());
            statement.setLong(3, token.turn());
            statement.setString(4, resource);
            statement.setLong(5, token.generation());
            statement.setLong(6, token.generation());
            statement.setLong(7, token.sequence());
            statement.setLong(8, token.sequence());
            statement.setLong(9, token.turn());
            return statement.executeUpdate() > 0;
        }
    }

    private Optional<FencingToken> lock(Connection connection, String resource) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lock)) {
            statement.setString(1, resource);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new FencingToken(row.getLong(1), row.getLong(2), row.getLong(3)))
                        : Optional.empty();
            }
        }
    }

    /**
     * Inserts the resource's row; waits for a transaction that is inserting it at the same time. Behind a savepoint,
     * because a failed statement spoils the whole transaction in PostgreSQL.
     *
     * @return null if it was inserted; what the database said if another transaction was quicker
     */
    private @Nullable SQLException insertUnlessThere(Connection connection, String resource, FencingToken token)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            statement.setString(1, resource);
            statement.setLong(2, token.generation());
            statement.setLong(3, token.sequence());
            statement.setLong(4, token.turn());
            statement.executeUpdate();
        } catch (SQLException e) {
            undo(connection, before, e);
            if (isDuplicateKey(e)) {
                return e;
            }
            throw e;
        }
        release(connection, before);
        return null;
    }

    private static void undo(Connection connection, Savepoint before, SQLException cause) throws SQLException {
        try {
            connection.rollback(before);
        } catch (SQLException e) { // after a deadlock or a lost connection there is no transaction any more
            cause.addSuppressed(e);
            throw cause;
        }
    }

    private static void release(Connection connection, Savepoint savepoint) throws SQLException {
        try {
            connection.releaseSavepoint(savepoint);
        } catch (SQLFeatureNotSupportedException e) {
            // such databases release it at the end of the transaction
        }
    }

    /**
     * Class 23 of the standard's SQL states: an integrity constraint is violated, and the table has but one that can
     * be.
     */
    private static boolean isDuplicateKey(SQLException e) {
        String state = e.getSQLState();
        return state != null && state.startsWith("23");
    }

    /** Under a stricter isolation than READ COMMITTED, whose snapshot does not see the row that is there. */
    private SQLException givenUp(String resource, @Nullable SQLException quicker) {
        return quicker != null
                ? quicker
                : new SQLException("The token of \"" + resource + "\" in " + table + " could not be raised", "40001");
    }

    @Override
    public String toString() {
        return "JdbcGuard[" + table + "]";
    }
}
