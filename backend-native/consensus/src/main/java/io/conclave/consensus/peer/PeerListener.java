package io.conclave.consensus.peer;

import io.conclave.consensus.core.PeerMessage;

/** What the network tells the member; all on the network's thread. Must not throw: what is thrown is only logged. */
public interface PeerListener {

    /**
     * What is sent to the member from now on travels on a new link; what was sent before may be lost.
     *
     * @param facts what it tells about itself; the number is {@code to}
     */
    void linked(int to, PeerFacts facts);

    /** There is no link to the member any more: what was sent may be lost, and what is sent now is dropped. */
    void linkDown(int to);

    /**
     * A message of a member, in its order; also of members that {@link PeerNetwork#members} does not name.
     *
     * @param directory whose it was when it made the link on which this came; 0 if it belonged to no cluster then
     */
    void arrived(int from, long directory, PeerMessage message);

    /**
     * The link from the member broke, and what it had sent after the last message that arrived is lost; within
     * milliseconds if its process or this connection has ended, within some election timeouts if it is just silent.
     */
    void inboundLost(int from);

    /** The feature level in force here: members whose software understands less are refused. */
    default int featureLevel() {
        return 0;
    }

    /**
     * One or more of the others were called, and nothing more is at hand: the turn may be ended and its output sent.
     * What has arrived on several links at once makes one turn.
     */
    void turnEnd();
}
