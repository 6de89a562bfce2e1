package io.conclave.server;

import io.conclave.connection.ClientLimit;
import io.conclave.consensus.LogStatus;
import io.conclave.replica.MemberList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * What this server is, in ZooKeeper's words: conf, envi and dirs. From any thread that may block: files and the name of
 * the machine are looked up.
 */
final class ServerDescription {
    private final ServerConfig config;
    private final Supplier<LogStatus> log;

    ServerDescription(ServerConfig config, Supplier<LogStatus> log) {
        this.config = config;
        this.log = log;
    }

    /** The answer to conf. Looks at the sizes of the files. */
    String configuration() {
        long snapshots = snapshotBytes();
        StringBuilder text = new StringBuilder();
        put(text, "clientPort", config.clientPort().orElse(-1));
        config.clientPortAddress().ifPresent(address -> put(text, "clientPortAddress", address));
        put(
                text,
                "secureClientPort",
                config.clientTls().flatMap(ClientTls::port).orElse(-1));
        put(text, "dataDir", config.homeDirectory().map(Path::toString).orElse(""));
        put(text, "dataDirSize", snapshots);
        put(text, "dataLogDir", config.dataDirectory().map(Path::toString).orElse(""));
        put(text, "dataLogSize", bytesOf(file -> true) - snapshots);
        put(text, "tickTime", config.tickTimeMs());
        put(text, "maxClientCnxns", config.maxConnectionsPerAddress());
        put(text, "minSessionTimeout", config.minSessionTimeoutMs());
        put(text, "maxSessionTimeout", config.maxSessionTimeoutMs());
        put(text, "clientPortListenBacklog", ServerTransport.BACKLOG);
        for (ClientLimit limit : ClientLimit.values()) {
            put(text, limit.key(), config.clientLimits().configured(limit));
        }
        put(text, "enforceQuota", config.clientLimits().enforcesQuotas());
        put(text, "serverId", config.ensemble().memberId());
        put(text, "clusterId", log.get().clusterId());
        config.ensemble().self().ifPresent(self -> {
            put(text, "initLimit", config.ensemble().initLimitTicks());
            put(text, "syncLimit", config.ensemble().syncLimitTicks());
            put(text, "electionTimeoutMs", config.ensemble().electionTimeoutMs());
            put(text, "electionAlg", 3);
            put(text, "electionPort", self.peerPort());
            put(text, "quorumPort", self.peerPort());
            put(text, "peerType", self.observer() ? 1 : 0);
            put(
                    text,
                    "peerAuthentication",
                    config.ensemble().authentication().name().toLowerCase(Locale.ROOT));
            text.append("membership: \n").append(MemberList.of(log.get().configuration()));
        });
        return text.toString();
    }

    private static void put(StringBuilder text, String key, Object value) {
        text.append(key).append('=').append(value).append('\n');
    }

    /** The answer to envi. Looks the name of this machine up. */
    String environment() {
        StringBuilder text = new StringBuilder("Environment:\n");
        put(text, "zookeeper.version", ServerReport.VERSION);
        put(text, "host.name", hostName());
        for (String key : new String[] {
            "java.version",
            "java.vendor",
            "java.home",
            "java.class.path",
            "java.library.path",
            "java.io.tmpdir",
            "java.compiler",
            "os.name",
            "os.arch",
            "os.version",
            "user.name",
            "user.home",
            "user.dir"
        }) {
            put(text, key, System.getProperty(key, "<NA>"));
        }
        Runtime runtime = Runtime.getRuntime();
        put(text, "os.memory.free", megabytes(runtime.freeMemory()));
        put(text, "os.memory.max", megabytes(runtime.maxMemory()));
        put(text, "os.memory.total", megabytes(runtime.totalMemory()));
        return text.toString();
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getCanonicalHostName();
        } catch (UnknownHostException e) {
            return "<NA>";
        }
    }

    private static String megabytes(long bytes) {
        return (bytes >> 20) + "MB";
    }

    /** The answer to dirs: the bytes of snapshots, and of the log and all else that is kept. */
    String directories() {
        long snapshots = snapshotBytes();
        return "datadir_size: " + snapshots + "\nlogdir_size: " + (bytesOf(file -> true) - snapshots) + "\n";
    }

    private long snapshotBytes() {
        return bytesOf(file -> file.getFileName().toString().endsWith(".snap"));
    }

    /** Of what is there: files come and go meanwhile. */
    private long bytesOf(Predicate<Path> which) {
        AtomicLong bytes = new AtomicLong();
        config.dataDirectory()
                .ifPresent(directory -> visit(directory, (file, length) -> {
                    if (which.test(file)) {
                        bytes.addAndGet(length);
                    }
                }));
        return bytes.get();
    }

    private static void visit(Path directory, ObjLongConsumer<Path> each) {
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    each.accept(file, attributes.size());
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException gone) {
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + directory, e);
        }
    }
}
