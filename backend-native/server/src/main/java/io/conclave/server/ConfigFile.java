package io.conclave.server;

import io.conclave.connection.ClientLimit;
import io.conclave.replica.MemberLine;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a {@link ServerConfig} from a file of {@code key=value} lines with ZooKeeper's keys. A line that starts with #
 * or ! is a comment. Every error names file, line and key.
 */
public final class ConfigFile {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigFile.class);

    /** ZooKeeper's name of a system property is this and then the key, and some files have it in front of the key. */
    private static final String PREFIX = "zookeeper.";

    private static final Pattern SERVERS_KEY = Pattern.compile("(server|group|weight)\\..*|version");
    /** In Java's properties a key ends here as well as at the {@code =}. */
    private static final Pattern KEY_END = Pattern.compile("[:\\s]");

    /** In Java's properties such a value goes on in the next line. */
    private static final Pattern CONTINUED = Pattern.compile("(?<!\\\\)(\\\\\\\\)*\\\\$");

    private static final Pattern USER_DIGEST = Pattern.compile("[^:]+:[A-Za-z0-9+/]{20,}={0,2}");

    private static final int LEAST_SEGMENT_KB = 8192;
    private static final int LEAST_SNAPSHOTS = 3;
    private static final int HANDSHAKE_TIMEOUT_MS = 10_000;

    /** The log has a directory to itself, apart from myid and what else an operator keeps beside it. */
    static final String LOG_DIRECTORY = "log";

    private final Path file;
    private final ServerConfig.Builder builder = ServerConfig.builder();
    private final Map<String, Integer> lineOfKey = new HashMap<>();
    private final EnsembleKeys ensemble;
    private final UnusedKeys unused;
    private final ClientAuthKeys clientAuth = new ClientAuthKeys();
    private final TlsKeys tls = new TlsKeys();
    private final boolean serversOnly;
    private Optional<Path> dynamicFile = Optional.empty();
    private Optional<Path> dataDirectory = Optional.empty();
    private Optional<Path> logDirectory = Optional.empty();
    private Optional<Integer> clientPort = Optional.empty();
    private int lineNumber;

    private ConfigFile(Path file, EnsembleKeys ensemble, UnusedKeys unused, boolean serversOnly) {
        this.file = file;
        this.ensemble = ensemble;
        this.unused = unused;
        this.serversOnly = serversOnly;
    }

    /**
     * Reads the file. Blocks.
     *
     * @throws ConfigException if it cannot be read or a line breaks a rule
     */
    public static ServerConfig read(Path file) {
        return new ConfigFile(file, new EnsembleKeys(), new UnusedKeys(), false).parse(lines(file));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (MalformedInputException e) {
            throw new ConfigException(file + ": is not a text file in UTF-8", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e, e);
        }
    }

    private ServerConfig parse(List<String> lines) {
        parseLines(lines);
        dynamicFile.ifPresent(this::readServers);
        try {
            unused.refuse();
        } catch (ConfigException e) {
            throw new ConfigException(file + ": " + e.getMessage(), e);
        }
        unused.log(file.toString());
        require("dataDir", "the directory of log and snapshots");
        builder.dataDirectory(logDirectory.or(() -> dataDirectory).map(directory -> directory.resolve(LOG_DIRECTORY)))
                .homeDirectory(dataDirectory);
        try {
            EnsembleConfig members = ensemble.read(dataDirectory.orElseThrow());
            builder.ensemble(members);
            ensemble.selfWithClientPort(members.memberId()).ifPresent(this::setClientPort);
            if (clientPort.isEmpty()) {
                require("clientPort", "0 picks a free port");
            }
            refuseSharedPort(members);
            builder.clientAuth(clientAuth.read());
            tls.read(clientPort, Duration.ofMillis(HANDSHAKE_TIMEOUT_MS)).ifPresent(builder::clientTls);
            return builder.build();
        } catch (ConfigException e) {
            throw new ConfigException(file + ": " + e.getMessage(), e);
        }
    }

    private void parseLines(List<String> lines) {
        for (String line : lines) {
            lineNumber++;
            String text = line.strip();
            if (!text.isEmpty() && text.charAt(0) != '#' && text.charAt(0) != '!') {
                parseLine(text);
            }
        }
    }

    /** ZooKeeper moves the servers' lines into a file of their own once {@code reconfigEnabled} is set. */
    private void readServers(Path servers) {
        if (!ensemble.isEmpty()) {
            throw new ConfigException(file + ": the lines server.N belong into " + servers
                    + ", which dynamicConfigFile names, and not here as well");
        }
        new ConfigFile(servers, ensemble, unused, true).parseLines(lines(servers));
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
        if (!self.member().clientHost().isEmpty()) {
            builder.clientPortAddress(self.member().clientHost());
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
        String key = text.substring(0, Math.max(0, equals)).strip();
        if (key.isEmpty() || KEY_END.matcher(key).find()) {
            throw invalid(notAKeyAndValue(text));
        }
        String value = text.substring(equals + 1).strip();
        String name = nameOf(key);
        if (CONTINUED.matcher(value).find()) {
            throw invalid("key " + key + ": the value ends with \\, and a line cannot go on in the next one here; write"
                    + " it in one line, without the \\");
        }
        Integer before = lineOfKey.put(name, lineNumber);
        if (before != null) {
            throw invalid("key " + key + " is already set in line " + before);
        }
        if (serversOnly && !SERVERS_KEY.matcher(name).matches()) {
            throw invalid("key " + key + " cannot be in a dynamicConfigFile, which has servers only");
        }
        if (value.isEmpty() && ZooKeeperKeys.find(name).isEmpty()) {
            throw invalid("key " + key + " has no value");
        }
        set(name, key, value);
    }

    private static String nameOf(String key) {
        return key.startsWith(PREFIX) ? key.substring(PREFIX.length()) : key;
    }

    /** Quotes nothing but a key that is known: what else the line has may be a password. */
    private static String notAKeyAndValue(String text) {
        String first = KEY_END.split(text, 2)[0];
        String key = isKnown(nameOf(first)) ? "key " + first + ": " : "";
        return key + "the line is not of the form key=value; a colon or a blank cannot stand for the =";
    }

    private static boolean isKnown(String name) {
        return PeerTlsKeys.has(name)
                || TlsKeys.has(name)
                || ClientAuthKeys.has(name)
                || ClientLimit.ofKey(name).isPresent()
                || ZooKeeperKeys.find(name).isPresent();
    }

    private void set(String name, String key, String value) {
        switch (name) {
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
            case "autopurge.snapRetainCount" ->
                builder.snapshotsKept(raised(key, number(key, value, 0, 1_000_000), LEAST_SNAPSHOTS));
            case "preAllocSize" ->
                builder.segmentBytes(1024 * raised(key, number(key, value, 1, 1024 * 1024), LEAST_SEGMENT_KB));
            case "znode.container.checkIntervalMs" ->
                builder.containerCheckIntervalMs(number(key, value, 1, Integer.MAX_VALUE));
            case "znode.container.maxPerMinute" ->
                builder.containerMaxPerMinute(number(key, value, 1, Integer.MAX_VALUE));
            case "znode.container.maxNeverUsedIntervalMs" ->
                builder.containerMaxNeverUsedMs(number(key, value, 0, Integer.MAX_VALUE));
            case "extendedTypesEnabled" -> builder.offersTtl(truth(key, value));
            case "enforceQuota" -> builder.enforcesQuotas(truth(key, value));
            case "4lw.commands.whitelist" -> builder.commandWhitelist(words(value));
            case "readonlymode.enabled" -> builder.readOnlyMode(truth(key, value));
            case "DigestAuthenticationProvider.superDigest" -> builder.superDigest(Optional.of(userDigest(key, value)));
            case "initLimit" -> ensemble.initLimitTicks(number(key, value, 1, 1_000_000));
            case "syncLimit" -> ensemble.syncLimitTicks(number(key, value, 1, 1_000_000));
            case "electionTimeoutMs" -> ensemble.electionTimeoutMs(number(key, value, 50, 600_000));
            case "featureLevelDelaySeconds" -> ensemble.featureLevelDelay(number(key, value, -1, Integer.MAX_VALUE));
            case "quorumListenOnAllIPs" -> ensemble.listensOnAllAddresses(truth(key, value));
            case "peerAuthentication" -> named(() -> ensemble.authentication(value));
            case "peerSecretFile" -> ensemble.secretFile(path(key, value));
            case "peerType" -> named(() -> ensemble.peerType(value));
            case "electionAlg" -> only("3", key, value);
            case "dynamicConfigFile" -> dynamicFile = Optional.of(path(key, value));
            default -> setOther(name, key, value);
        }
    }

    private String userDigest(String key, String value) {
        if (!USER_DIGEST.matcher(value).matches()) {
            throw invalid("key " + key + " is not of the form user:digest, with the hash of user:password in Base64");
        }
        return value;
    }

    private void setOther(String name, String key, String value) {
        if (PeerTlsKeys.has(name)) {
            named(() -> ensemble.tls(name, key, value));
            return;
        }
        if (TlsKeys.has(name)) {
            named(() -> tls.set(name, key, value));
            return;
        }
        Optional<ClientLimit> limit = ClientLimit.ofKey(name);
        if (limit.isPresent() && value.equals("-1") && ZooKeeperKeys.find(name).isPresent()) {
            return; // ZooKeeper's default
        }
        if (limit.isPresent()) {
            builder.clientLimit(limit.get(), wholeNumber(key, value, 0, Long.MAX_VALUE));
            return;
        }
        if (ClientAuthKeys.has(name)) {
            named(() -> clientAuth.set(name, key, value));
            return;
        }
        Optional<ZooKeeperKeys.Key> notUsed = ZooKeeperKeys.find(name);
        if (notUsed.isPresent()) {
            String place = (serversOnly ? file + ": " : "") + "line " + lineNumber;
            named(() -> unused.take(notUsed.get(), key, value, place));
        } else if (EnsembleKeys.isServerLine(name)) {
            named(() -> ensemble.server(name, value));
        } else {
            throw invalid("key " + key + " is unknown");
        }
    }

    private void only(String supported, String key, String value) {
        if (!value.equals(supported)) {
            throw invalid(
                    "key " + key + ": \"" + value + "\" is not supported, only " + supported + " is; remove the line");
        }
    }

    /** ZooKeeper takes numbers that are too small here, so they are raised and not refused. */
    private int raised(String key, int value, int least) {
        if (value < least) {
            LOG.info(
                    "{}: line {}: {}={} is below the least that is used here; {} is used",
                    file,
                    lineNumber,
                    key,
                    value,
                    least);
        }
        return Math.max(value, least);
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
        return switch (value.toLowerCase(Locale.ROOT)) {
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
        return (int) wholeNumber(key, value, least, most);
    }

    private long wholeNumber(String key, String value, long least, long most) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below like any other bad value
        }
        throw invalid("key " + key + ": \"" + value + "\" is not a whole number from " + least + " to " + most);
    }

    private Path directory(String key, String value) {
        Path path = path(key, value);
        if (Files.exists(path) && !Files.isDirectory(path)) {
            throw invalid("key " + key + ": " + value + " is not a directory");
        }
        return path;
    }

    private Path path(String key, String value) {
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw invalid("key " + key + ": \"" + value + "\" is not a path: " + e.getReason());
        }
    }

    private ConfigException invalid(@Nullable String rule) {
        return new ConfigException(file + ": line " + lineNumber + ": " + rule);
    }
}
