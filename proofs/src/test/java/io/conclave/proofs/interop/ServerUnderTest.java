package io.conclave.proofs.interop;

/** A stand-alone server on a port of the loopback address that can be stopped and started again on its data. */
public interface ServerUnderTest extends AutoCloseable {
    /** The port for clients; the same after a restart. */
    int port();

    /** What the clients of ZooKeeper call a connect string. */
    default String hostPort() {
        return "127.0.0.1:" + port();
    }

    /** The connect string for our client. */
    String url();

    /** Stops the server; sessions and data stay. */
    void stop();

    /** Starts it again after a stop. */
    void start();

    /** Ends the server and deletes its data. */
    @Override
    void close();
}
