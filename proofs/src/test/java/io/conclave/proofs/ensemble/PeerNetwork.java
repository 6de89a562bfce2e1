package io.conclave.proofs.ensemble;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What lies between the members of an ensemble, which are numbered from 1: where each is reached, and which of their
 * links are broken. Clients are not affected by broken links.
 */
interface PeerNetwork extends AutoCloseable {
    /** What {@code server.N} calls a member. */
    String nameOf(int member);

    /** Where clients and four-letter words reach a member. */
    String clientHostOf(int member);

    /** The address to which a member binds the port for its clients. */
    String clientBindAddressOf(int member);

    /** Ports are chosen and no process runs yet: what belongs between the members is made. */
    void open(Path home, List<PeerPorts> ports);

    /** What stands before a member's command line. */
    List<String> commandPrefixOf(int member);

    /** Options of a member's JVM. */
    List<String> jvmOptionsOf(int member);

    /**
     * Nothing that one member sends arrives at the other any more; the other way goes on. Connections stay open, as
     * with a cable pulled out.
     */
    void cut(int from, int to);

    /** Ends {@link #cut} of this way. */
    void mend(int from, int to);

    /** What one member sends arrives at the other so much later; false if this network cannot. */
    boolean delay(int from, int to, Duration delay);

    /** Where a member listens for its peers. */
    record PeerPorts(int peer, int election) {}

    @Override
    void close();

    /** An address of the loopback interface. */
    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress("127.0.0.1", port);
    }
}
