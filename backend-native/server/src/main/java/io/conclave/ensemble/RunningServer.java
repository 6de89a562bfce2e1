package io.conclave.ensemble;

import io.conclave.server.ConclaveServer;
import java.util.Optional;

/** A server that was started and not ended, in this JVM or in a process of its own. Its methods are called one at a time. */
interface RunningServer {

    /** What it says of itself; empty if it says nothing, as while it does not serve. Blocks for about a second at most. */
    Optional<ServerStatus> status();

    /** Whether clients and other members can connect to it. Blocks for about a second at most. */
    boolean isListening();

    /** How it ended without being asked to; empty while it has not. */
    Optional<String> ending();

    /** The server itself, if it is in this JVM. */
    ConclaveServer server();

    /** Stands still from now on, as a process does that got SIGSTOP. Blocks until it does. */
    void pause();

    /** Goes on. To be called only if it is paused. */
    void resume();

    /** Ends in order. Blocks until it has; not to be called while it is paused. */
    void stop();

    /** Ends at once, as a process does that got SIGKILL. Blocks until it has. */
    void kill();
}
