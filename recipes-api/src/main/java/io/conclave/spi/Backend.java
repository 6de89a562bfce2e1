package io.conclave.spi;

import java.util.Set;

/** A store of znodes to which sessions can be opened: an embedded server, an ensemble, Apache ZooKeeper. */
public interface Backend extends AutoCloseable {
    /** What the backend can do beyond the common contract. */
    Set<Capability> capabilities();

    /**
     * Opens a session: connects in the background and keeps trying until it is closed. Never blocks.
     *
     * <p>A session of this backend that its client has lost before may live on at the server for a while. It is ended
     * there before the new one is CONNECTED: what it has sent has taken effect by then, or never does.
     *
     * @param listener receives every state after CONNECTING, from the first on
     */
    BackendSession openSession(SessionListener listener);

    /**
     * Closes what the backend holds here: connections, threads, an embedded server. Sessions still open are closed
     * first. Blocks for a few seconds at most.
     */
    @Override
    void close();
}
