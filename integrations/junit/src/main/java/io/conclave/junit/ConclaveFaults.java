package io.conclave.junit;

import io.conclave.coordinator.Coordinator;

/**
 * What a test does to the coordinators that it has as parameters. They are undone after each test.
 *
 * <p>Thread-safe. The methods throw {@link IllegalArgumentException} for a coordinator that is not a parameter of this
 * test or of its class.
 */
public sealed interface ConclaveFaults permits MemoryFaults, ProxyFaults {
    /**
     * Cuts a coordinator off from the store, until {@link #reconnect}. Its connection goes at once; its session ends
     * when its timeout is over. Does not block.
     */
    void cutOff(Coordinator coordinator);

    /** Ends {@link #cutOff}. Does not block: the coordinator connects by itself. */
    void reconnect(Coordinator coordinator);

    /**
     * The next request of a coordinator is executed, but the connection goes before its reply arrives. So the caller
     * does not know whether it took effect. The coordinator connects again by itself. Does not block.
     *
     * <p>With servers it is the next of their messages that is lost: it may be the answer to a heartbeat.
     */
    void loseNextReply(Coordinator coordinator);

    /**
     * The store ends the session of a coordinator, as if it had not heard of it for its timeout. The coordinator opens
     * a new one.
     *
     * <p>The store in memory does so at once. Servers cannot be told to: the coordinator is cut off until it knows that
     * its session is lost. This blocks for the session timeout. Ephemeral znodes may stay a moment longer.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; the coordinator is connected again
     */
    void endSession(Coordinator coordinator) throws InterruptedException;

    /** Undoes all faults: coordinators connect again, and no further reply is lost. Does not block. */
    void undoAll();
}
