/** The backend over the ZooKeeper wire protocol. */
module io.conclave.client {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires transitive io.netty.transport;
    requires io.conclave.protocol;
    requires io.conclave.tls;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.transport.classes.epoll;
    requires java.security.sasl;
    requires org.slf4j;

    exports io.conclave.client;

    provides io.conclave.spi.BackendProvider with
            io.conclave.client.WireBackendProvider;
}
