package io.conclave.ensemble;

import io.conclave.server.ConclaveServer;
import java.util.Optional;

/**
 * A server that was started and not ended, in this JVM or in a process of its own. Its methods are called one at a
 * time.
 */
interface RunningServer {

    /**
     * The status that it reports; empty if it reports none, as while it does not serve. Blocks for about a second at
     * most.
     */
    Optional<ServerStatus> status();

    /** Whether clients and other members can connect to it. Blocks for about a second at most. */
    boolean isListening();

    /** How it ended by itself; empty while it runs. */
    Optional<String> ending();

    /** The server itself, if it is in this JVM. */
    ConclaveServer server();

    /** Makes it stand still, as SIGSTOP does to a process. Blocks until it stands still. */
    void pause();

    /** Goes on. To be called only if it is paused. */
    void resume();

    /** Ends in order. Blocks until it has; not to be called while it is paused. */
    void stop();

    /** Ends at once, as SIGKILL ends a process. Blocks until it has. */
    void kill();
}
