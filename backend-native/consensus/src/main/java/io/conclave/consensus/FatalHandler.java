package io.conclave.consensus;

/** Called once when the log cannot go on; the owner ends the process, for memory and disk may disagree. */
@FunctionalInterface
public interface FatalHandler {

    /**
     * Called on the log's thread. Proposals that were being written have an unknown outcome: they are neither applied
     * nor rejected, so their clients must see the connection go. An fsync is never retried.
     */
    void fatal(LogException cause);
}
