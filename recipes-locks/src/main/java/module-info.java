/** Distributed locks. */
module io.conclave.locks {
    requires static org.jspecify;
    requires transitive io.conclave.api;

    exports io.conclave.locks;
}
