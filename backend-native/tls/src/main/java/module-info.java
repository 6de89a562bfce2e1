/** Keys, certificates and handshakes of TLS. */
module io.conclave.tls {
    requires static org.jspecify;
    requires transitive io.netty.handler;
    requires transitive io.netty.transport;
    requires io.netty.buffer;
    requires io.netty.common;
    requires org.slf4j;

    exports io.conclave.tls;
}
