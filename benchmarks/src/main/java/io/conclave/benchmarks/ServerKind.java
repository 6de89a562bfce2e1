package io.conclave.benchmarks;

import java.util.List;

/** The servers that are compared, each stand-alone and durable, with fsync as it comes. */
enum ServerKind {
    /** This project's server. */
    CONCLAVE("conclave", "conclave") {
        @Override
        List<String> mainAndArguments(String configuration) {
            return List.of("io.conclave.launcher.Main", "start-foreground", configuration);
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
    };

    private final String label;
    private final String scheme;

    ServerKind(String label, String scheme) {
        this.label = label;
        this.scheme = scheme;
    }

    /** The command line behind the class path. */
    abstract List<String> mainAndArguments(String configuration);

    String label() {
        return label;
    }

    String scheme() {
        return scheme;
    }
}
