/** Groups whose members come and go with their sessions, live views of them, kept znodes, and partitions. */
module io.conclave.membership {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.membership;
}
