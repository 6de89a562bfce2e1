package io.conclave.server.faults;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The faults that a test gives to a server in its JVM: it stands still, or it dies. The server's own API does not have
 * them, so no application finds them there.
 */
public interface ServerFaults {

    /**
     * All threads of the server: those of its event loops, that of its log, and those that work in the background,
     * except the threads that look host names up, which hand their result to the log's thread. An action that is given
     * to one of them runs there between two pieces of work, and may block. Timers run on the threads of the time source
     * that the server was started with.
     */
    List<Executor> threads();

    /**
     * Ends the server as if its process had been killed: connections break, and nothing is answered, handed over or
     * written any more. Each of the {@link #threads()} is asked to end before a thread that is held up can go on.
     * Blocks until the server has ended; idempotent.
     *
     * @param letGo lets the threads go on that the caller holds up
     */
    void kill(Runnable letGo);

    /**
     * The faults of a server.
     *
     * @param server a {@code ConclaveServer}
     */
    static ServerFaults of(AutoCloseable server) {
        return Door.toServer.apply(server);
    }

    /** Called once by the class of the servers, as only that class can reach into them. */
    static void openDoor(Function<AutoCloseable, ServerFaults> toServer) {
        Door.toServer = toServer;
    }
}
