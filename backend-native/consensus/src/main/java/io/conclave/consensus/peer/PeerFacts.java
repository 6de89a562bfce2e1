package io.conclave.consensus.peer;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;

/**
 * What a member tells about itself when a link is made, in both directions.
 *
 * @param clusterId the cluster its directory belongs to; {@link #NO_CLUSTER} while it is empty
 * @param memberId its number, 1 to 255
 * @param directory the random id of its log directory
 * @param featureLevel the highest that its software understands
 * @param clientHost where its clients reach it; empty for the host where its members do
 * @param clientPort the port of that; 0 if it does not say
 * @param observer whether it shall stay a learner for good
 */
public record PeerFacts(
        UUID clusterId,
        int memberId,
        long directory,
        int featureLevel,
        String clientHost,
        int clientPort,
        boolean observer) {
    /** The id of no cluster. */
    public static final UUID NO_CLUSTER = new UUID(0, 0);

    static final int MAX_MEMBER_ID = 255;
    static final int MAX_HOST_BYTES = 255;

    public PeerFacts {
        if (memberId < 1 || memberId > MAX_MEMBER_ID) {
            throw new IllegalArgumentException("member id " + memberId + " is not 1 to " + MAX_MEMBER_ID);
        }
        if (clientPort < 0 || clientPort > 0xffff) {
            throw new IllegalArgumentException("client port " + clientPort + " is not 0 to 65535");
        }
        if (clientHost.getBytes(StandardCharsets.UTF_8).length > MAX_HOST_BYTES) {
            throw new IllegalArgumentException("client host is longer than " + MAX_HOST_BYTES + " bytes");
        }
    }

    /** Whether the two may belong together: to one cluster, or one of them to none yet. */
    public boolean isCompatible(PeerFacts other) {
        return clusterId.equals(other.clusterId) || !hasCluster() || !other.hasCluster();
    }

    /** The cluster that the directory belongs to, if it does. */
    Optional<UUID> cluster() {
        return hasCluster() ? Optional.of(clusterId) : Optional.empty();
    }

    /** Whether the directory belongs to a cluster. */
    public boolean hasCluster() {
        return !clusterId.equals(NO_CLUSTER);
    }
}
