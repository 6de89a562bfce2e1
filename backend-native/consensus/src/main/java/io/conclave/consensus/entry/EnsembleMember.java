package io.conclave.consensus.entry;

import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A member of the cluster, as the configuration has it.
 *
 * @param id its number, 1 to 255
 * @param directory the random id of its log directory; 0 while it has not shown one. A member that shows up with
 *     another one has lost its log, and has no vote
 * @param host where the other members reach it
 * @param peerPort the port of that
 * @param clientHost where its clients reach it; empty for the host
 * @param clientPort the port of that; 0 if it is not known to the others
 * @param observer whether it shall stay a learner for good; any other learner is made a voter once it has caught up
 */
public record EnsembleMember(
        int id, long directory, String host, int peerPort, String clientHost, int clientPort, boolean observer) {
    /** Characters of a host: names of DNS have no more. */
    public static final int MAX_HOST_CHARS = 255;

    /** The same member with another directory. */
    public EnsembleMember withDirectory(long newDirectory) {
        return new EnsembleMember(id, newDirectory, host, peerPort, clientHost, clientPort, observer);
    }

    /** False for a server that began by itself: no other could reach it, as its file had no line for it. */
    public boolean hasAddress() {
        return !host.isEmpty();
    }

    /** Whether the other members reach it where they reach that one; hosts are compared as they are written. */
    public boolean isReachedAs(EnsembleMember other) {
        return host.equals(other.host) && peerPort == other.peerPort;
    }

    /** The same member where the other one is. */
    public EnsembleMember withAddressesOf(EnsembleMember other) {
        return new EnsembleMember(
                id, directory, other.host, other.peerPort, other.clientHost, other.clientPort, observer);
    }

    /**
     * An address that the other member has as well, as {@code host:port}; empty if there is none. Hosts are compared as
     * they are written. The address of clients counts only if it names a host that is the same from everywhere.
     */
    public Optional<String> addressOf(EnsembleMember other) {
        Set<String> shared = addresses();
        shared.retainAll(other.addresses());
        return shared.stream().findFirst();
    }

    private Set<String> addresses() {
        Set<String> addresses = new HashSet<>();
        if (peerPort != 0 && !isEverywhere(host)) {
            addresses.add(address(host, peerPort));
        }
        if (clientPort != 0 && !isEverywhere(clientHost) && !isOwnMachine(clientHost)) {
            addresses.add(address(clientHost, clientPort));
        }
        return addresses;
    }

    private static String address(String host, int port) {
        return host.toLowerCase(Locale.ROOT) + ":" + port;
    }

    private static boolean isEverywhere(String host) {
        return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
    }

    private static boolean isOwnMachine(String host) {
        return host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.equals("::1");
    }
}
