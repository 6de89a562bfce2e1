/** The replicated log. */
module io.conclave.consensus {
    requires static org.jspecify;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.transport;
    requires io.netty.transport.classes.epoll;
    requires io.netty.handler;
    requires java.naming;
    requires org.slf4j;
    requires transitive io.conclave.tls;

    exports io.conclave.consensus;
    exports io.conclave.consensus.disk;
    exports io.conclave.consensus.ensemble;
    exports io.conclave.consensus.entry;
}
