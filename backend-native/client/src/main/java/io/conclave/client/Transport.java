package io.conclave.client;

import io.netty.channel.EventLoop;

/** How connections to the servers come about: over TCP, or inside this JVM. */
interface Transport extends AutoCloseable {
    /** How many servers there are to choose from; at least one. */
    int serverCount();

    /** The name of a server for messages. */
    String describe(int server);

    /** The event loop of a new session. */
    EventLoop nextLoop();

    /**
     * Begins to connect to a server, on the loop. Never blocks. The connection is told when it is there, or that it failed; one that was
     * abandoned meanwhile is not continued.
     */
    void connect(EventLoop loop, int server, Connection connection);

    /** Stops the threads. Blocks for a few seconds at most. */
    @Override
    void close();
}
