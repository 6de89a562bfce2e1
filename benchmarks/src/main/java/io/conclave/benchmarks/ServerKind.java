package io.conclave.benchmarks;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The servers that are compared, each durable, with fsync as it comes. */
enum ServerKind {
    /** This project's server. */
    CONCLAVE("conclave", "conclave") {
        @Override
        List<String> mainAndArguments(String configuration) {
            return List.of("io.conclave.launcher.Main", "start-foreground", configuration);
        }

        @Override
        List<String> ensembleMainAndArguments(String configuration) {
            return mainAndArguments(configuration);
        }

        @Override
        Optional<List<String>> bootstrap(int number, String configuration) {
            return number == 1
                    ? Optional.of(List.of("io.conclave.launcher.Main", "init", configuration))
                    : Optional.empty();
        }
    },
    /** Apache ZooKeeper. */
    ZOOKEEPER("zookeeper", "zookeeper") {
        @Override
        List<String> mainAndArguments(String configuration) {
            return List.of(
                    "-Dzookeeper.admin.enableServer=false",
                    "org.apache.zookeeper.server.ZooKeeperServerMain",
                    configuration);
        }

        @Override
        List<String> ensembleMainAndArguments(String configuration) {
            return List.of(
                    "-Dzookeeper.admin.enableServer=false",
                    "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                    configuration);
        }

        @Override
        Optional<List<String>> bootstrap(int number, String configuration) {
            return Optional.empty();
        }
    };

    private final String label;
    private final String scheme;

    ServerKind(String label, String scheme) {
        this.label = label;
        this.scheme = scheme;
    }

    /** The command line behind the class path. */
    abstract List<String> mainAndArguments(String configuration);

    /** The same for a member of an ensemble. */
    abstract List<String> ensembleMainAndArguments(String configuration);

    /** The command line that makes this member the beginning of a new ensemble, if it needs one. */
    abstract Optional<List<String>> bootstrap(int number, String configuration);

    /** The line that names the secret of an ensemble's members, if they have one. */
    Optional<String> secretLine(Path directory) {
        return this == CONCLAVE
                ? Optional.of(
                        "peerSecretFile=" + directory.resolve("peer.secret").toAbsolutePath())
                : Optional.empty();
    }

    /** Reads a kind from its label. */
    static ServerKind parse(String text) {
        return Arrays.stream(values())
                .filter(kind -> kind.label.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Invalid kind \"" + text + "\": it must be conclave or zookeeper"));
    }

    String label() {
        return label;
    }

    String scheme() {
        return scheme;
    }
}
