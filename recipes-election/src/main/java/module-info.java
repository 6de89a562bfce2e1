/** Leader election: campaign, observe, hand over. */
module io.conclave.election {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.election;
}
