package io.conclave.consensus.entry;

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

    /** The same member with another directory. */
    public EnsembleMember withDirectory(long newDirectory) {
        return new EnsembleMember(id, newDirectory, host, peerPort, clientHost, clientPort, observer);
    }
}
