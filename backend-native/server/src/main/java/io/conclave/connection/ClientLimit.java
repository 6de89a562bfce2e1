package io.conclave.connection;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A bound of what one client, or all of them, can make a server hold or do. Each has a key in the configuration file, a
 * default that protects a server and that no sound application meets, and a counter of refusals.
 */
public enum ClientLimit {
    /** Bytes of a path, as UTF-8. Checked before anything else is done with the path. */
    PATH_BYTES("maxPathBytes", Effect.REFUSES, 16 << 10),

    /** Names in the path of a new znode: each of its ancestors is looked at when it changes. */
    PATH_DEPTH("maxPathDepth", Effect.REFUSES, 256),

    /** Bytes of the ids that one connection has proved: each of its writes carries them. */
    AUTH_BYTES("maxAuthBytes", Effect.REFUSES, 4 << 10),

    /** Bytes of one SASL token of a client. Those of Kerberos grow with the groups of a user. */
    SASL_TOKEN_BYTES("maxSaslTokenBytes", Effect.REFUSES, 64 << 10),

    /** SASL tokens of one connection. An exchange takes two or three. */
    SASL_STEPS("maxSaslSteps", Effect.REFUSES, 16),

    /**
     * Bytes of the ACL of one znode, with what {@code auth} in it stands for. In the different ACLs of one multi that
     * may have 128 times as many.
     */
    ACL_BYTES("maxAclBytes", Effect.REFUSES, 32 << 10),

    /**
     * Bytes of memory that the replicated state takes, about; beyond it deletions go on, and a sixteenth more of
     * ephemeral znodes, half of it of containers.
     */
    STATE_BYTES("maxStateBytes", Effect.REFUSES, 0, 0.4),

    /** Sessions of the cluster. */
    SESSIONS("maxSessions", Effect.REFUSES, 10_000, 1.0 / 8192),

    /** Sessions that one address has opened or resumed through this server, and that have not ended. */
    SESSIONS_OF_ADDRESS("maxSessionsPerAddress", Effect.REFUSES, 10_000),

    /**
     * Sessions that are opened through this server in a second, and resumed that it does not know; half of it for one
     * address.
     */
    SESSIONS_PER_SECOND("maxSessionsPerSecond", Effect.REFUSES, 1000),

    /** Ephemeral znodes of one session: they all go at once when it ends. */
    EPHEMERALS_OF_SESSION("maxEphemeralsPerSession", Effect.REFUSES, 100_000),

    /** Znodes that are counted in a second for new quotas set through this server: all members wait for each count. */
    QUOTA_COUNTS("maxQuotaCountPerSecond", Effect.REFUSES, 500_000),

    /** Requests of one connection that wait for their answers; beyond it nothing is read from it. */
    REQUESTS_IN_FLIGHT("maxRequestsInFlightPerConnection", Effect.HOLDS, 250),

    /** Their bytes. */
    BYTES_IN_FLIGHT_OF_CONNECTION("maxBytesInFlightPerConnection", Effect.HOLDS, 1 << 20),

    /** The same of all connections; beyond it each may have one request that waits. */
    BYTES_IN_FLIGHT("maxBytesInFlight", Effect.HOLDS, 0, 1.0 / 16),

    /** ZooKeeper's: from so many bytes on a request is large. Those with parts count eightfold. */
    LARGE_REQUEST_BYTES("largeRequestThreshold", Effect.HOLDS, 64 << 10),

    /** ZooKeeper's: bytes of large requests that are in the server at a time; the others wait. */
    LARGE_REQUESTS_BYTES("largeRequestMaxBytes", Effect.HOLDS, 1 << 20),

    /** Bytes of requests longer than 16 kB of which a part is there; the rest of the others is not read. */
    ARRIVING_BYTES("maxArrivingRequestBytes", Effect.HOLDS, 0, 1.0 / 16),

    /** Watches of one connection. */
    WATCHES("maxWatchesPerConnection", Effect.REFUSES, 250_000),

    /** Bytes of memory of the watches of one connection. */
    WATCH_BYTES_OF_CONNECTION("maxWatchBytesPerConnection", Effect.REFUSES, 0, 1.0 / 16),

    /** Bytes of memory of all watches of this server. */
    WATCH_BYTES("maxWatchBytes", Effect.REFUSES, 0, 1.0 / 8),

    /** Bytes of answers and events that one client has yet to read; beyond it its connection is closed. */
    UNREAD_BYTES_OF_CONNECTION("maxUnreadBytesPerConnection", Effect.REFUSES, 0, 1.0 / 8, 64 << 20),

    /** The same of all clients; beyond it the connections of those that read least are closed. */
    UNREAD_BYTES("maxUnreadBytes", Effect.REFUSES, 0, 1.0 / 4),

    /** The same with what is made of long answers; beyond it no long answer begins. */
    UNREAD_BYTES_FOR_LONG_ANSWERS("maxUnreadBytesForLongAnswers", Effect.HOLDS, 0, 1.0 / 8);

    private static final Map<String, ClientLimit> BY_KEY =
            Arrays.stream(values()).collect(Collectors.toMap(ClientLimit::key, Function.identity()));

    /** What happens to what is beyond a limit. */
    private enum Effect {
        REFUSES("zk_conclave_refused_"),
        /** It waits in the client's socket. */
        HOLDS("zk_conclave_held_");

        private final String metric;

        Effect(String metric) {
            this.metric = metric;
        }
    }

    private final String key;
    private final Effect effect;
    private final long least;
    private final double shareOfHeap;
    private final long most;

    ClientLimit(String key, Effect effect, long fixed) {
        this(key, effect, fixed, 0);
    }

    ClientLimit(String key, Effect effect, long least, double shareOfHeap) {
        this(key, effect, least, shareOfHeap, Long.MAX_VALUE);
    }

    ClientLimit(String key, Effect effect, long least, double shareOfHeap, long most) {
        this.key = key;
        this.effect = effect;
        this.least = least;
        this.shareOfHeap = shareOfHeap;
        this.most = most;
    }

    /** Its name in the configuration file. */
    public String key() {
        return key;
    }

    /** Its name among the metrics. */
    public String metric() {
        return effect.metric + name().toLowerCase(Locale.ROOT);
    }

    /** The default of a server whose heap may grow to so many bytes. */
    public long defaultOf(long heapBytes) {
        return Math.min(most, Math.max(least, (long) (heapBytes * shareOfHeap)));
    }

    /** The limit with a key. */
    public static Optional<ClientLimit> ofKey(String key) {
        return Optional.ofNullable(BY_KEY.get(key));
    }
}
