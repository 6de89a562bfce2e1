package io.conclave.server;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.MemberLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines of a configuration file that are about the ensemble, and the rules between them. Not thread-safe. */
final class EnsembleKeys {
    private static final Logger LOG = LoggerFactory.getLogger(EnsembleKeys.class);
    private static final String PREFIX = "server.";
    private static final String MYID = "myid";

    private final Map<Integer, MemberLine> lines = new TreeMap<>();
    private final Map<String, String> takenBy = new HashMap<>();
    private Optional<Boolean> observer = Optional.empty();
    private int initLimitTicks = EnsembleConfig.DEFAULT_INIT_LIMIT_TICKS;
    private int syncLimitTicks = EnsembleConfig.DEFAULT_SYNC_LIMIT_TICKS;
    private int electionTimeoutMs = EnsembleConfig.DEFAULT_ELECTION_TIMEOUT_MS;
    private boolean listensOnAllAddresses;
    private PeerAuthentication authentication = PeerAuthentication.REQUIRED;
    private final PeerTlsKeys tls = new PeerTlsKeys();
    private Optional<Path> secretFile = Optional.empty();
    private Optional<Duration> featureLevelDelay = Optional.of(EnsembleConfig.DEFAULT_FEATURE_LEVEL_DELAY);

    static boolean isServerLine(String key) {
        return key.startsWith(PREFIX);
    }

    /** Whether there has been no {@code server.N} line. */
    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** Takes a {@code server.N} line. */
    void server(String key, String value) {
        int id = id(key.substring(PREFIX.length()));
        if (id < 0) {
            throw new ConfigException("key " + key + ": a server's number is from 1 to " + MemberLine.MAX_ID);
        }
        MemberLine line;
        try {
            line = MemberLine.parse(id, value);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("key " + key + ": " + e.getMessage(), e);
        }
        if (lines.put(id, line) != null) {
            throw new ConfigException("key " + key + ": server " + id + " is already set");
        }
        EnsembleMember member = line.member();
        take(key, "the peer port " + member.host() + ":" + member.peerPort(), member.host(), member.peerPort());
        if (member.clientPort() != 0) {
            take(
                    key,
                    "the client port " + member.host() + ":" + member.clientPort(),
                    member.host(),
                    member.clientPort());
        }
    }

    private void take(String key, String what, String host, int port) {
        String before = takenBy.put(host + ":" + port, key);
        if (before != null) {
            throw new ConfigException("key " + key + ": " + what + " is already used by "
                    + (before.equals(key) ? "the same line" : before) + "; every port of a host has one use");
        }
    }

    private static int id(String text) {
        try {
            int id = Integer.parseInt(text);
            return id >= 1 && id <= MemberLine.MAX_ID ? id : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    void peerType(String value) {
        observer = switch (value) {
            case "observer" -> Optional.of(true);
            case "participant" -> Optional.of(false);
            default -> throw new ConfigException("key peerType: \"" + value + "\" is neither participant nor observer");
        };
    }

    void initLimitTicks(int value) {
        initLimitTicks = value;
    }

    void syncLimitTicks(int value) {
        syncLimitTicks = value;
    }

    void electionTimeoutMs(int value) {
        electionTimeoutMs = value;
    }

    void listensOnAllAddresses(boolean value) {
        listensOnAllAddresses = value;
    }

    void authentication(String value) {
        authentication = switch (value) {
            case "required" -> PeerAuthentication.REQUIRED;
            case "optional" -> PeerAuthentication.OPTIONAL;
            case "none" -> PeerAuthentication.NONE;
            default ->
                throw new ConfigException(
                        "key peerAuthentication: \"" + value + "\" is none of required, optional and none");
        };
    }

    /** Takes a line about TLS between members. */
    void tls(String name, String key, String value) {
        tls.take(name, key, value);
    }

    void secretFile(Path value) {
        secretFile = Optional.of(value);
    }

    /** @param seconds -1 to wait for an operator */
    void featureLevelDelay(int seconds) {
        featureLevelDelay = seconds < 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
    }

    /**
     * Puts the lines together with the number in the file {@code myid}.
     *
     * @param dataDirectory where that file is
     */
    EnsembleConfig read(Path dataDirectory) {
        Map<Integer, EnsembleMember> members = new TreeMap<>();
        lines.forEach((id, line) -> members.put(id, line.member()));
        noteElectionPorts();
        int memberId = memberId(dataDirectory);
        MemberLine self = lines.get(memberId);
        if (!lines.isEmpty() && self == null) {
            throw new ConfigException(dataDirectory.resolve(MYID) + " says " + memberId
                    + ", but there is no line server." + memberId + "; there are " + lines.keySet());
        }
        if (self != null
                && observer.isPresent()
                && observer.get() != self.member().observer()) {
            throw new ConfigException("peerType=" + (observer.get() ? "observer" : "participant")
                    + " contradicts the line server." + memberId + ", which says "
                    + (self.member().observer() ? "observer" : "participant") + "; say it there only");
        }
        if (members.size() > 1 && members.values().stream().allMatch(EnsembleMember::observer)) {
            throw new ConfigException("all servers are observers; at least one must vote");
        }
        return new EnsembleConfig(
                memberId,
                members,
                initLimitTicks,
                syncLimitTicks,
                electionTimeoutMs,
                listensOnAllAddresses,
                Map.of(),
                authentication,
                secretFile,
                featureLevelDelay,
                tls.read());
    }

    /** How the own line has the clients' port, if it does. */
    Optional<MemberLine> selfWithClientPort(int memberId) {
        return Optional.ofNullable(lines.get(memberId))
                .filter(line -> line.member().clientPort() != 0);
    }

    private void noteElectionPorts() {
        List<String> named = new ArrayList<>();
        lines.forEach((id, line) -> {
            if (line.namesElectionPort()) {
                named.add(PREFIX + id);
            }
        });
        if (!named.isEmpty()) {
            LOG.info("The election ports of {} are not used: members talk over one port, the first", named);
        }
    }

    private int memberId(Path dataDirectory) {
        Path file = dataDirectory.resolve(MYID);
        if (!Files.exists(file)) {
            if (lines.size() > 1) {
                throw new ConfigException("the file " + file + " is missing; it says which of server." + lines.keySet()
                        + " this one is: a number by itself");
            }
            return lines.isEmpty() ? 1 : lines.keySet().iterator().next();
        }
        String text;
        try {
            text = Files.readString(file).strip();
        } catch (IOException e) {
            throw new ConfigException("the file " + file + " cannot be read: " + e, e);
        }
        int id = id(text);
        if (id < 0) {
            throw new ConfigException("the file " + file + " holds \"" + text + "\", not a server's number from 1 to "
                    + MemberLine.MAX_ID);
        }
        return id;
    }
}
