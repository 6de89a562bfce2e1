package io.conclave.consensus.member;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.UUID;

/** How a member reaches the others. All methods are called on the member's thread and do not block. */
public interface PeerLinks {
    /** Of a member that is alone. */
    PeerLinks NONE = new PeerLinks() {
        @Override
        public void send(int to, PeerMessage message) {}

        @Override
        public void flush() {}

        @Override
        public void configured(ClusterConfiguration configuration) {}

        @Override
        public void identify(UUID clusterId, long directory) {}

        @Override
        public void disconnect(int from, String reason) {}
    };

    /** Sends a message in its turn, with the next {@link #flush} at the latest; drops it if there is no link. */
    void send(int to, PeerMessage message);

    /** Lets everything go that was sent. */
    void flush();

    /** The members to have links to, besides those that the operator lists. */
    void configured(ClusterConfiguration configuration);

    /** This member's identity from here on; links on which it gave another one are made anew. */
    void identify(UUID clusterId, long directory);

    /** Ends the link from the member, which sends what cannot be; it may make a new one. */
    void disconnect(int from, String reason);
}
