/** Barrier, double barrier, latch. */
module io.conclave.barriers {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.barriers;
}
