package io.conclave.client;

import io.conclave.spi.ConnectString.Endpoint;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;

/** Makes connections to servers: over TCP, or inside this JVM. */
interface ClientTransport extends AutoCloseable {
    /** A server to connect to; messages name it by its text. */
    interface Server {
        /**
         * Begins to connect, on the loop. Never blocks. The connection is told when it is there, or that it failed; one
         * that was abandoned meanwhile is not continued.
         *
         * @param bound the time after which the connection is abandoned
         * @param tried the addresses that the session has tried, this one's among them from now on
         */
        void connect(EventLoop loop, Connection connection, Duration bound, TriedAddresses tried);

        /** Whether only the ensemble has named it: this client may not reach it there. */
        default boolean isLearned() {
            return false;
        }
    }

    /**
     * The servers to choose from, at least one, those of the connect string first. The list never changes; when servers
     * come or go there is another list.
     */
    List<Server> servers();

    /** Whether {@link #learned} is of use: whether the servers may change. */
    boolean followsEnsemble();

    /** The ensemble has said where clients reach its members now. */
    void learned(List<Endpoint> members);

    /** The event loop of a new session. */
    EventLoop nextLoop();

    /** Stops the threads. Blocks for a few seconds at most. */
    @Override
    void close();
}
