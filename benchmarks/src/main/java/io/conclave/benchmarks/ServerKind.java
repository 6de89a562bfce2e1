package io.conclave.benchmarks;

import io.conclave.session.TlsOptions;
import io.conclave.testkit.tls.CertificateAuthority;
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
    /** The same, asked over TLS. */
    CONCLAVE_TLS("conclave-tls", "conclave") {
        @Override
        List<String> mainAndArguments(String configuration) {
            return CONCLAVE.mainAndArguments(configuration);
        }

        @Override
        List<String> ensembleMainAndArguments(String configuration) {
            return CONCLAVE.ensembleMainAndArguments(configuration);
        }

        @Override
        Optional<List<String>> bootstrap(int number, String configuration) {
            return CONCLAVE.bootstrap(number, configuration);
        }

        @Override
        List<String> linesOfTls(Path directory) {
            CertificateAuthority authority = new CertificateAuthority("CN=Benchmark");
            authority.writePem(directory.resolve(TRUSTED));
            Path own = authority.issue("CN=server", "127.0.0.1").writePem(directory.resolve("own.pem"));
            return List.of(
                    "client.portUnification=true",
                    "ssl.clientAuth=none",
                    "ssl.keyStore.location=" + own.toAbsolutePath());
        }

        @Override
        Optional<TlsOptions> tls(Path directory) {
            return Optional.of(TlsOptions.trusting(directory.resolve(TRUSTED).toAbsolutePath()));
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

    private static final String TRUSTED = "trusted.pem";

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

    /** The lines by which its port takes clients with TLS, if it is asked so; makes the certificates. */
    List<String> linesOfTls(Path directory) {
        return List.of();
    }

    /** How clients speak TLS with it, if they do. */
    Optional<TlsOptions> tls(Path directory) {
        return Optional.empty();
    }

    /** The line that names the secret of an ensemble's members, if they have one. */
    Optional<String> secretLine(Path directory) {
        return this != ZOOKEEPER
                ? Optional.of(
                        "peerSecretFile=" + directory.resolve(label + ".secret").toAbsolutePath())
                : Optional.empty();
    }

    /** Reads a kind from its label. */
    static ServerKind parse(String text) {
        return Arrays.stream(values())
                .filter(kind -> kind.label.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Invalid kind \"" + text + "\": it must be conclave, conclave-tls or zookeeper"));
    }

    /** In tables. */
    String title() {
        return switch (this) {
            case CONCLAVE -> "Conclave";
            case CONCLAVE_TLS -> "Conclave with TLS";
            case ZOOKEEPER -> "ZooKeeper";
        };
    }

    String label() {
        return label;
    }

    String scheme() {
        return scheme;
    }
}
