package io.conclave.proofs.ensemble;

import io.conclave.launcher.Main;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Whose servers make up an ensemble: how their processes are started, and what their configuration needs beside the
 * words that both know.
 */
public enum EnsembleKind {
    /** Apache ZooKeeper, as it comes. */
    APACHE_ZOOKEEPER("zookeeper") {
        @Override
        List<String> configuration(Path home) {
            return List.of("admin.enableServer=false", "4lw.commands.whitelist=*", "maxClientCnxns=0");
        }

        @Override
        String mainClass() {
            return "org.apache.zookeeper.server.quorum.QuorumPeerMain";
        }

        @Override
        List<String> arguments(String word, String file) {
            if (!word.equals(Member.START)) {
                throw new UnsupportedOperationException("Apache ZooKeeper's server has no command " + word);
            }
            return List.of(file);
        }

        @Override
        boolean isBootstrappedAt(int number) {
            return false;
        }
    },
    /** This project's server. */
    CONCLAVE("conclave") {
        @Override
        List<String> configuration(Path home) {
            return List.of(
                    "4lw.commands.whitelist=*",
                    "maxClientCnxns=0",
                    "peerSecretFile=" + home.resolve("peer.secret").toAbsolutePath());
        }

        @Override
        String mainClass() {
            return Main.class.getName();
        }

        @Override
        List<String> arguments(String word, String file) {
            return List.of(word, file);
        }

        @Override
        boolean isBootstrappedAt(int number) {
            return number == 1; // which takes in the others
        }
    };

    private final String scheme;

    EnsembleKind(String scheme) {
        this.scheme = scheme;
    }

    /** The one that a system property names, as {@code apache} or {@code conclave}; this project's if it is not set. */
    public static EnsembleKind chosen() {
        String word = System.getProperty("ensemble.kind", "conclave").toUpperCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(kind -> kind.name().startsWith(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Invalid ensemble.kind \"" + word + "\": it must be apache or conclave"));
    }

    /**
     * Lines of configuration that this kind needs.
     *
     * @param home the directory of the ensemble
     */
    abstract List<String> configuration(Path home);

    abstract String mainClass();

    /** What the main class is given for a command such as {@link Member#START} or {@code init}. */
    abstract List<String> arguments(String word, String file);

    /** Whether this member learns once, by the command {@code init}, that the cluster is a new one. */
    abstract boolean isBootstrappedAt(int number);

    /** What stands before {@code ://} in a connect string of our client. */
    public String scheme() {
        return scheme;
    }

    @Override
    public String toString() {
        return this == CONCLAVE ? "Conclave" : "Apache ZooKeeper";
    }
}
