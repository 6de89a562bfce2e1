/** Two-phase commit with a durable decision and recovery. */
module io.conclave.commit {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.commit;
}
