/** The process and the commands of an operator: start, members, backup, restore, import. */
module io.conclave.launcher {
    requires static org.jspecify;
    requires io.conclave.api;
    requires io.conclave.consensus;
    requires io.conclave.protocol;
    requires io.conclave.server;
    requires io.netty.buffer;
    requires java.management;
    requires org.slf4j;

    exports io.conclave.launcher;
}
