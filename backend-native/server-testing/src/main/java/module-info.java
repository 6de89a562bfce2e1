/** Ensembles of servers for tests, in one JVM or as processes. */
module io.conclave.server.testing {
    requires static org.jspecify;
    requires transitive io.conclave.server;
    requires io.netty.buffer;
    requires io.netty.common;

    exports io.conclave.ensemble;
}
