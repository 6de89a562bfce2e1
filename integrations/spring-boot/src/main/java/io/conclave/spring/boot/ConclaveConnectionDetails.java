package io.conclave.spring.boot;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/** Where the coordinator connects to. A bean of this type takes the place of {@code conclave.connect-string}. */
@FunctionalInterface
public interface ConclaveConnectionDetails extends ConnectionDetails {
    /** As {@link io.conclave.coordinator.Coordinator#connect} takes it. */
    String getConnectString();

    /**
     * Whether the addresses that an ensemble tells lead to its servers from here. If not, the coordinator keeps to
     * those of the connect string, whatever {@code conclave.follow-ensemble} says.
     */
    default boolean canFollowEnsemble() {
        return true;
    }
}
