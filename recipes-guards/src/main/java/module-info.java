/** Guards that refuse a late writer, for locks and leaders. */
module io.conclave.guards {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    // For JdbcGuard alone: a module that passes it a Connection requires java.sql itself, and no other module needs it
    // in its image.
    requires static java.sql;

    exports io.conclave.guards;
}
