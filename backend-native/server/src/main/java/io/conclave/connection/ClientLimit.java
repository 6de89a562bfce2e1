package io.conclave.connection;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;

/**
 * A bound of what one client, or all of them, can make a server hold or do. Each has a key in the configuration file, a
 * default that protects a server and that no application in its right mind meets, and a counter of refusals.
 */
public enum ClientLimit {
    /** Bytes of a path, as UTF-8. Found out before anything else is done with the path. */
    PATH_BYTES("maxPathBytes", heap -> 16 << 10),

    /** Names in the path of a new znode: each of its ancestors is looked at when it changes. */
    PATH_DEPTH("maxPathDepth", heap -> 256),

    /** Bytes of the ids that one connection has proved: they ride in each of its writes. */
    AUTH_BYTES("maxAuthBytes", heap -> 4 << 10),

    /** Bytes of the ACL of one znode, with what {@code auth} in it stands for. */
    ACL_BYTES("maxAclBytes", heap -> 32 << 10),

    /** Bytes of memory that the replicated state takes, about; deletions go on beyond it. */
    STATE_BYTES("maxStateBytes", heap -> heap / 5 * 2),

    /** Sessions of the cluster. */
    SESSIONS("maxSessions", heap -> Math.max(10_000, heap / 8192)),

    /** Sessions that one address has opened through this server, and that still live. */
    SESSIONS_OF_ADDRESS("maxSessionsPerAddress", heap -> 1000),

    /** Sessions that are opened through this server in a second. */
    SESSIONS_PER_SECOND("maxSessionsPerSecond", heap -> 1000),

    /** Ephemeral znodes of one session: they all go at once when it ends. */
    EPHEMERALS_OF_SESSION("maxEphemeralsPerSession", heap -> 100_000),

    /** Watches of one connection. */
    WATCHES("maxWatchesPerConnection", heap -> 250_000),

    /** Bytes of memory of the watches of one connection. */
    WATCH_BYTES_OF_CONNECTION("maxWatchBytesPerConnection", heap -> heap / 16),

    /** Bytes of memory of all watches of this server. */
    WATCH_BYTES("maxWatchBytes", heap -> heap / 8);

    private static final Map<String, ClientLimit> BY_KEY =
            Arrays.stream(values()).collect(Collectors.toMap(ClientLimit::key, Function.identity()));

    private final String key;
    private final LongUnaryOperator ofHeap;

    ClientLimit(String key, LongUnaryOperator ofHeap) {
        this.key = key;
        this.ofHeap = ofHeap;
    }

    /** Its name in the configuration file. */
    public String key() {
        return key;
    }

    /** Its name among the metrics. */
    public String metric() {
        return "conclave_refused_" + name().toLowerCase(Locale.ROOT);
    }

    /** The default of a server whose heap may grow to so many bytes. */
    public long defaultOf(long heapBytes) {
        return ofHeap.applyAsLong(heapBytes);
    }

    /** The limit with a key. */
    public static Optional<ClientLimit> ofKey(String key) {
        return Optional.ofNullable(BY_KEY.get(key));
    }
}
