/** The server, stand-alone and embedded. */
@SuppressWarnings("module") // those named below are built after this one
module io.conclave.server {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires transitive io.conclave.consensus;
    requires transitive io.netty.transport;
    requires io.conclave.client;
    requires io.conclave.protocol;
    requires transitive io.conclave.tls;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport.classes.epoll;
    requires java.management;
    requires java.security.jgss;
    requires java.security.sasl;
    requires jdk.management;
    requires org.slf4j;

    exports io.conclave.backup to
            io.conclave.launcher;
    exports io.conclave.connection to
            io.conclave.launcher;
    exports io.conclave.replica to
            io.conclave.launcher;
    exports io.conclave.server;
    exports io.conclave.server.faults to
            io.conclave.server.testing;
    exports io.conclave.tree;

    provides io.conclave.spi.BackendProvider with
            io.conclave.embedded.EmbeddedBackendProvider;
}
