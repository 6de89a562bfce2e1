/**
 * What an application sees: the coordinator, grants, paths, errors; what a backend provides; and, for our own recipes
 * only, what they are made of.
 */
@SuppressWarnings("module") // the recipes are compiled later
module io.conclave.api {
    requires static org.jspecify;
    requires transitive dev.failsafe.core;
    requires org.slf4j;

    // for applications
    exports io.conclave.cache;
    exports io.conclave.coordinator;
    exports io.conclave.error;
    exports io.conclave.grant;
    exports io.conclave.metrics;
    exports io.conclave.node;
    exports io.conclave.request;
    exports io.conclave.session;
    exports io.conclave.time;

    // for backends
    exports io.conclave.spi;

    // for recipes and integrations
    exports io.conclave.line to
            io.conclave.barriers,
            io.conclave.commit,
            io.conclave.election,
            io.conclave.locks,
            io.conclave.membership,
            io.conclave.queues,
            io.conclave.spring.boot,
            io.conclave.spring.integration;
    exports io.conclave.mirror to
            io.conclave.config,
            io.conclave.membership,
            io.conclave.spring.boot,
            io.conclave.spring.cloud;
    exports io.conclave.recipe to
            io.conclave.barriers,
            io.conclave.commit,
            io.conclave.config,
            io.conclave.discovery,
            io.conclave.election,
            io.conclave.guards,
            io.conclave.locks,
            io.conclave.membership,
            io.conclave.queues,
            io.conclave.shedlock,
            io.conclave.spring.boot,
            io.conclave.spring.cloud,
            io.conclave.testkit;
    exports io.conclave.recovery to
            io.conclave.barriers,
            io.conclave.commit,
            io.conclave.config,
            io.conclave.election,
            io.conclave.locks,
            io.conclave.membership,
            io.conclave.queues,
            io.conclave.shedlock;

    uses io.conclave.spi.BackendProvider;
}
