/** Services that register themselves, and providers that choose among their instances. */
module io.conclave.discovery {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires transitive io.conclave.membership;
    requires io.conclave.config;
    requires org.slf4j;

    exports io.conclave.discovery;
}
