/** Distributed locks: mutex, shared lock, semaphore, multi-lock. */
module io.conclave.locks {
    requires static org.jspecify;
    requires transitive io.conclave.api;
    requires org.slf4j;

    exports io.conclave.locks;
}
