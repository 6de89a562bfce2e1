/** Work queues in order or by priority, with take, claim, acknowledge and dead letters. */
module io.conclave.queues {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.queues;
}
