/** Groups whose members come and go with their sessions, and live views of them. */
module io.conclave.membership {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.membership;
}
