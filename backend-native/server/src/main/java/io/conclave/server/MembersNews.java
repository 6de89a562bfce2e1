package io.conclave.server;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationText;
import java.util.Optional;

/**
 * Of the configurations that are committed, those in which an operator sees something new. A change of voters takes two
 * entries of the log, the second of which only ends the change. On the log's thread.
 */
final class MembersNews {
    private String told = "";

    /** The members as text, if they are others than before; a server that is and was alone has nothing to tell. */
    Optional<String> of(ClusterConfiguration before, ClusterConfiguration present) {
        String members = ConfigurationText.members(present);
        boolean isAlone = present.members().size() <= 1 && before.members().size() <= 1;
        if (isAlone || members.equals(told)) {
            return Optional.empty();
        }
        told = members;
        return Optional.of(members);
    }
}
