/** What an application and a recipe see: the coordinator, grants, paths, errors; and what a backend provides. */
module io.conclave.api {
    requires static org.jspecify;
    requires transitive dev.failsafe.core;
    requires org.slf4j;

    exports io.conclave.cache;
    exports io.conclave.coordinator;
    exports io.conclave.error;
    exports io.conclave.grant;
    exports io.conclave.line;
    exports io.conclave.metrics;
    exports io.conclave.node;
    exports io.conclave.recovery;
    exports io.conclave.request;
    exports io.conclave.session;
    exports io.conclave.spi;
    exports io.conclave.time;

    uses io.conclave.spi.BackendProvider;
}
