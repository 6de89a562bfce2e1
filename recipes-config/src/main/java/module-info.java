/** Configuration service, caches, shared values, counters and unique ids. */
module io.conclave.config {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.config;
}
