/** The records and frames of the ZooKeeper wire. */
module io.conclave.protocol {
    requires static org.jspecify;
    requires transitive io.netty.buffer;

    exports io.conclave.protocol;
}
