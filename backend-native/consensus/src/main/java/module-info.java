/** The replicated log. */
module io.conclave.consensus {
    requires static org.jspecify;
    requires org.slf4j;

    exports io.conclave.consensus;
    exports io.conclave.consensus.disk;
    exports io.conclave.consensus.entry;
}
