package io.conclave.server;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads a {@link ServerConfig} from a file of {@code key=value} lines with ZooKeeper's keys. A line that starts with #
 * or ! is a comment. Every error names file, line and key.
 */
public final class ConfigFile {
    private static final Set<String> ENSEMBLE_KEYS = Set.of(
            "initLimit",
            "syncLimit",
            "electionAlg",
            "electionPort",
            "peerType",
            "dynamicConfigFile",
            "standaloneEnabled",
            "reconfigEnabled",
            "leaderServes",
            "localSessionsEnabled",
            "localSessionsUpgradingEnabled",
            "observerMasterPort",
            "connectToLearnerMasterLimit",
            "syncEnabled",
            "quorumListenOnAllIPs",
            "sslQuorum");
    private static final List<String> ENSEMBLE_PREFIXES = List.of("server.", "group", "weight.", "quorum.");

    private final Path file;
    private final ServerConfig.Builder builder = ServerConfig.builder();
    private final Map<String, Integer> lineOfKey = new HashMap<>();
    private Optional<Path> dataDirectory = Optional.empty();
    private Optional<Path> logDirectory = Optional.empty();
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
        require("clientPort", "0 picks a free port");
        require("dataDir", "the directory of log and snapshots");
        builder.dataDirectory(logDirectory.or(() -> dataDirectory));
        try {
            return builder.build();
        } catch (ConfigException e) {
            throw new ConfigException(file + ": " + e.getMessage(), e);
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
            case "clientPort" -> builder.clientPort(number(key, value, 0, 65535));
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
            default -> throw invalid(whyNot(key));
        }
    }

    private String whyNot(String key) {
        if (ENSEMBLE_KEYS.contains(key) || ENSEMBLE_PREFIXES.stream().anyMatch(key::startsWith)) {
            return "key " + key + " is for an ensemble, and this version serves as a single member only; "
                    + "remove the line";
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

    private ConfigException invalid(String rule) {
        return new ConfigException(file + ": line " + lineNumber + ": " + rule);
    }
}
