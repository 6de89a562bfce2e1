/** Distributed locks, and guards that refuse a late writer. */
module io.conclave.locks {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;
    // for JdbcGuard alone; whoever passes it a Connection requires java.sql himself, and nobody else needs it in his
    // image
    requires static java.sql;

    exports io.conclave.locks;
}
