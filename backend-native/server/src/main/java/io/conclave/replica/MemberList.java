package io.conclave.replica;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;

/**
 * The members of a cluster in ZooKeeper's words, as its {@code /zookeeper/config} has them: one {@code server.N=...} a
 * line. A member without a vote, for good or not yet, is an observer there.
 */
public final class MemberList {
    /**
     * There is one port for peers; ZooKeeper's own reader, which Curator's clients use, wants another one behind it.
     */
    private static final int NO_ELECTION_PORT = 0;

    private MemberList() {}

    /** The lines, each with its end; members that no other member could reach are left out. */
    public static String of(ClusterConfiguration configuration) {
        StringBuilder lines = new StringBuilder();
        for (EnsembleMember member : configuration.members().values()) {
            if (member.hasAddress()) {
                lines.append("server.").append(member.id()).append('=');
                lines.append(format(member, configuration.isVoter(member.id()))).append('\n');
            }
        }
        return lines.toString();
    }

    /** What stands behind {@code server.N=}. */
    public static String format(EnsembleMember member, boolean votes) {
        StringBuilder line = new StringBuilder(bracketed(member.host()));
        line.append(':').append(member.peerPort()).append(':').append(NO_ELECTION_PORT);
        line.append(votes ? ":participant" : ":observer");
        if (member.clientPort() != 0) {
            String address = member.clientHost().isEmpty() ? "0.0.0.0" : bracketed(member.clientHost());
            line.append(';').append(address).append(':').append(member.clientPort());
        }
        return line.toString();
    }

    private static String bracketed(String host) {
        return host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    }
}
