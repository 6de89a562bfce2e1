package io.conclave.server;

import io.conclave.replica.MemberLine;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@link ServerConfig} from a file of {@code key=value} lines with ZooKeeper's keys. A line that starts with #
 * or ! is a comment. Every error names file, line and key.
 */
public final class ConfigFile {
    /** Keys of ZooKeeper's that stand in many files and ask for what is so here anyway; any other value is refused. */
    private static final Map<String, Set<String>> FIXED = Map.ofEntries(
            Map.entry("electionAlg", Set.of("3")),
            Map.entry("standaloneEnabled", Set.of("true", "false")),
            Map.entry("leaderServes", Set.of("yes")),
            Map.entry("syncEnabled", Set.of("true")),
            Map.entry("sslQuorum", Set.of("false")),
            Map.entry("localSessionsEnabled", Set.of("false")),
            Map.entry("localSessionsUpgradingEnabled", Set.of("false")),
            Map.entry("admin.enableServer", Set.of("false")));
    /** Keys of ZooKeeper's that this server has nothing for. */
    private static final Set<String> UNSUPPORTED = Set.of(
            "electionPort",
            "dynamicConfigFile",
            "reconfigEnabled",
            "observerMasterPort",
            "connectToLearnerMasterLimit",
            "secureClientPort");

    private static final List<String> UNSUPPORTED_PREFIXES = List.of("group", "weight.", "quorum.", "ssl.", "admin.");

    private static final Pattern USER_DIGEST = Pattern.compile("[^:]+:[A-Za-z0-9+/]{27}=");

    /** The log has a directory to itself, apart from myid and what else an operator keeps beside it. */
    private static final String LOG = "log";

    private final Path file;
    private final ServerConfig.Builder builder = ServerConfig.builder();
    private final Map<String, Integer> lineOfKey = new HashMap<>();
    private final EnsembleKeys ensemble = new EnsembleKeys();
    private Optional<Path> dataDirectory = Optional.empty();
    private Optional<Path> logDirectory = Optional.empty();
    private Optional<Integer> clientPort = Optional.empty();
    private int lineNumber;

    private ConfigFile(Path file) {
        this.file = file;
    }

    /**
     * Reads the file. Blocks.
     *
     * @throws ConfigException if it cannot be read or a line breaks a rule
     */
    public static ServerConfig read(Path file) {
        try {
            return new ConfigFile(file).parse(Files.readAllLines(file, StandardCharsets.UTF_8));
        } catch (MalformedInputException e) {
            throw new ConfigException(file + ": is not a text file in UTF-8", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e, e);
        }
    }

    private ServerConfig parse(List<String> lines) {
        for (String line : lines) {
            lineNumber++;
            String text = line.strip();
            if (!text.isEmpty() && text.charAt(0) != '#' && text.charAt(0) != '!') {
                parseLine(text);
            }
        }
        require("dataDir", "the directory of log and snapshots");
        builder.dataDirectory(logDirectory.or(() -> dataDirectory).map(directory -> directory.resolve(LOG)))
                .homeDirectory(dataDirectory);
        try {
            EnsembleConfig members = ensemble.read(dataDirectory.orElseThrow());
            builder.ensemble(members);
            ensemble.selfWithClientPort(members.memberId()).ifPresent(this::setClientPort);
            if (clientPort.isEmpty()) {
                require("clientPort", "0 picks a free port");
            }
            refuseSharedPort(members);
            return builder.build();
        } catch (ConfigException e) {
            throw new ConfigException(file + ": " + e.getMessage(), e);
        }
    }

    /** The own {@code server.N} line goes before clientPort, as in ZooKeeper; they may not contradict each other. */
    private void setClientPort(MemberLine self) {
        int port = self.member().clientPort();
        if (clientPort.isPresent() && clientPort.get() != port) {
            throw new ConfigException("clientPort=" + clientPort.get() + " contradicts the line server."
                    + self.member().id() + ", which says " + port + " behind its ';'; remove one of them");
        }
        clientPort = Optional.of(port);
        builder.clientPort(port);
        if (!self.clientAddress().isEmpty()) {
            builder.clientPortAddress(self.clientAddress());
        }
    }

    private void refuseSharedPort(EnsembleConfig members) {
        if (members.self().isPresent() && members.self().get().peerPort() == clientPort.orElse(0)) {
            throw new ConfigException("clientPort and the peer port of server." + members.memberId() + " are both "
                    + clientPort.orElse(0) + "; clients and members need a port each");
        }
    }

    private void require(String key, String hint) {
        if (!lineOfKey.containsKey(key)) {
            throw new ConfigException(file + ": the key " + key + " is missing (" + hint + ")");
        }
    }

    private void parseLine(String text) {
        int equals = text.indexOf('=');
        if (equals < 1) {
            throw invalid("\"" + text + "\" is not of the form key=value");
        }
        String key = text.substring(0, equals).strip();
        String value = text.substring(equals + 1).strip();
        Integer before = lineOfKey.put(key, lineNumber);
        if (before != null) {
            throw invalid("key " + key + " is already set in line " + before);
        }
        if (value.isEmpty()) {
            throw invalid("key " + key + " has no value");
        }
        set(key, value);
    }

    private void set(String key, String value) {
        switch (key) {
            case "clientPort" -> {
                clientPort = Optional.of(number(key, value, 0, 65535));
                builder.clientPort(clientPort.get());
            }
            case "clientPortAddress" -> builder.clientPortAddress(value);
            case "dataDir" -> dataDirectory = Optional.of(directory(key, value));
            case "dataLogDir" -> logDirectory = Optional.of(directory(key, value));
            case "tickTime" -> builder.tickTimeMs(number(key, value, 1, Integer.MAX_VALUE));
            case "maxClientCnxns" -> builder.maxConnectionsPerAddress(number(key, value, 0, Integer.MAX_VALUE));
            case "maxCnxns" -> builder.maxConnections(number(key, value, 0, Integer.MAX_VALUE));
            case "minSessionTimeout" -> setUnlessDefault(key, value, builder::minSessionTimeoutMs);
            case "maxSessionTimeout" -> setUnlessDefault(key, value, builder::maxSessionTimeoutMs);
            case "snapCount" -> builder.snapshotEveryEntries(number(key, value, 2, Integer.MAX_VALUE));
            case "autopurge.snapRetainCount" -> builder.snapshotsKept(number(key, value, 3, 1_000_000));
            // Checked and otherwise without effect: old files go as soon as a new snapshot is complete.
            case "autopurge.purgeInterval" -> number(key, value, 0, Integer.MAX_VALUE);
            case "preAllocSize" -> builder.segmentBytes(1024 * number(key, value, 8192, 1024 * 1024));
            case "znode.container.checkIntervalMs" ->
                builder.containerCheckIntervalMs(number(key, value, 1, Integer.MAX_VALUE));
            case "4lw.commands.whitelist" -> builder.commandWhitelist(words(value));
            case "readonlymode.enabled" -> builder.readOnlyMode(truth(key, value));
            case "DigestAuthenticationProvider.superDigest" -> builder.superDigest(Optional.of(userDigest(key, value)));
            case "initLimit" -> ensemble.initLimitTicks(number(key, value, 1, 1_000_000));
            case "syncLimit" -> ensemble.syncLimitTicks(number(key, value, 1, 1_000_000));
            case "electionTimeoutMs" -> ensemble.electionTimeoutMs(number(key, value, 50, 600_000));
            case "quorumListenOnAllIPs" -> ensemble.listensOnAllAddresses(truth(key, value));
            case "peerType" -> named(() -> ensemble.peerType(value));
            default -> setOther(key, value);
        }
    }

    private String userDigest(String key, String value) {
        if (!USER_DIGEST.matcher(value).matches()) {
            throw invalid("key " + key + " is not of the form user:digest, with the SHA-1 of user:password in Base64");
        }
        return value;
    }

    private void setOther(String key, String value) {
        if (EnsembleKeys.isServerLine(key)) {
            named(() -> ensemble.server(key, value));
            return;
        }
        Set<String> allowed = FIXED.get(key);
        if (allowed == null) {
            throw invalid(whyNot(key));
        }
        if (!allowed.contains(value)) {
            throw invalid("key " + key + ": \"" + value + "\" is not supported, only "
                    + String.join(" and ", new TreeSet<>(allowed)) + " is; remove the line");
        }
    }

    /** Gives file and line to what a rule of another class says. */
    private void named(Runnable rule) {
        try {
            rule.run();
        } catch (ConfigException e) {
            throw invalid(e.getMessage());
        }
    }

    private boolean truth(String key, String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalid("key " + key + ": \"" + value + "\" is neither true nor false");
        };
    }

    private Set<String> words(String value) {
        Set<String> words = new HashSet<>();
        for (String word : value.split(",", -1)) {
            words.add(word.strip());
        }
        return words;
    }

    private String whyNot(String key) {
        if (UNSUPPORTED.contains(key) || UNSUPPORTED_PREFIXES.stream().anyMatch(key::startsWith)) {
            return "key " + key + " is ZooKeeper's and not supported here; remove the line";
        }
        return "key " + key + " is unknown";
    }

    /** ZooKeeper reads -1 as the default. */
    private void setUnlessDefault(String key, String value, java.util.function.IntConsumer setter) {
        int timeoutMs = number(key, value, -1, Integer.MAX_VALUE);
        if (timeoutMs == 0) {
            throw invalid("key " + key + ": 0 is not a timeout; it must be positive, or -1 for the default");
        }
        if (timeoutMs > 0) {
            setter.accept(timeoutMs);
        }
    }

    private int number(String key, String value, int least, int most) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return (int) number;
            }
        } catch (NumberFormatException e) {
            // said below like any other bad value
        }
        throw invalid("key " + key + ": \"" + value + "\" is not a whole number from " + least + " to " + most);
    }

    private Path directory(String key, String value) {
        try {
            Path path = Path.of(value);
            if (Files.exists(path) && !Files.isDirectory(path)) {
                throw invalid("key " + key + ": " + value + " is not a directory");
            }
            return path;
        } catch (InvalidPathException e) {
            throw invalid("key " + key + ": \"" + value + "\" is not a path: " + e.getReason());
        }
    }

    private ConfigException invalid(@Nullable String rule) {
        return new ConfigException(file + ": line " + lineNumber + ": " + rule);
    }
}
