package io.conclave.server;

import io.conclave.connection.ClientLimit;
import io.conclave.connection.ClientLimits;
import io.conclave.connection.ConnectionLimits;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * What an operator can set. Immutable; {@link ConfigFile} reads it from a file in the manner of {@code zoo.cfg}.
 *
 * @param clientPort the TCP port of clients; 0 picks a free one; empty opens none
 * @param clientPortAddress the address to listen on; empty means all
 * @param dataDirectory where log and snapshots are kept; empty keeps everything in memory
 * @param tickTimeMs the server's unit of time: by default a session timeout is 2 to 20 of them
 * @param maxConnectionsPerAddress how many TCP connections one IP address may have; 0 sets no bound
 * @param maxConnections how many connections there may be in all; 0 sets no bound
 * @param minSessionTimeoutMs the shortest session timeout granted
 * @param maxSessionTimeoutMs the longest session timeout granted
 * @param snapshotEveryEntries a snapshot is taken after so many log entries
 * @param snapshotsKept how many snapshots are kept, with the log that the oldest of them needs
 * @param segmentBytes the size of a preallocated log file
 * @param reaping how empty containers and nodes that have outlived their time are deleted
 * @param offersTtl whether nodes with a time to live may be created
 * @param handshakeTimeoutMs how long a connection may take for its handshake
 * @param eventLoops how many threads serve connections
 * @param homeDirectory where what belongs to this server but not to its log is kept ({@code dataDir}); by default the
 *     data directory
 * @param ensemble this server's number, and the ensemble it belongs to
 * @param commandWhitelist the four-letter words that are answered; {@code *} stands for all
 * @param readOnlyMode whether clients that ask for it are served reads while there is no leader
 * @param superDigest ZooKeeper's digest of the user and password that may do everything, besides the admin secret
 * @param clientAuth what clients must prove, and whether their changes are written down
 * @param clientTls TLS for clients
 * @param clientLimits what clients can make the server hold and do
 */
public record ServerConfig(
        Optional<Integer> clientPort,
        Optional<String> clientPortAddress,
        Optional<Path> dataDirectory,
        int tickTimeMs,
        int maxConnectionsPerAddress,
        int maxConnections,
        int minSessionTimeoutMs,
        int maxSessionTimeoutMs,
        long snapshotEveryEntries,
        int snapshotsKept,
        int segmentBytes,
        Reaping reaping,
        boolean offersTtl,
        long handshakeTimeoutMs,
        int eventLoops,
        Optional<Path> homeDirectory,
        EnsembleConfig ensemble,
        Set<String> commandWhitelist,
        boolean readOnlyMode,
        Optional<String> superDigest,
        ClientAuthConfig clientAuth,
        Optional<ClientTls> clientTls,
        ClientLimits clientLimits) {
    static final int DEFAULT_TICK_MS = 2000;
    private static final int SESSIONS_PER_CONNECTION = 10;

    /** So many take all sessions of the cluster through one server, and no fewer. */
    private static final int ADDRESSES_OF_CLUSTER = 8;

    static final int DEFAULT_SEGMENT_KB = 65536;
    private static final int EMBEDDED_TICK_MS = 50;
    private static final int EMBEDDED_MAX_TIMEOUT_MS = 600_000;

    /** Where it keeps its state and listens; the whole has what belongs to a password. */
    @Override
    public String toString() {
        return "ServerConfig[dataDirectory=" + dataDirectory + ", clientPort=" + clientPort + ", clientPortAddress="
                + clientPortAddress + ", ensemble=" + ensemble + "]";
    }

    /**
     * A server inside a JVM, reached through memory only, that grants session timeouts from 100 ms to 10 minutes.
     *
     * @param dataDirectory where it keeps its state; empty keeps it in memory
     */
    public static ServerConfig embedded(Optional<Path> dataDirectory) {
        return builder()
                .dataDirectory(dataDirectory)
                .tickTimeMs(EMBEDDED_TICK_MS)
                .maxSessionTimeoutMs(EMBEDDED_MAX_TIMEOUT_MS)
                .eventLoops(1)
                .build();
    }

    /** The same with another place in an ensemble. */
    public ServerConfig withEnsemble(EnsembleConfig value) {
        return new Builder(this).ensemble(value).build();
    }

    /** The same without a port for clients, with TLS or without it. */
    ServerConfig withoutPort() {
        Builder copy = new Builder(this);
        copy.clientPort = Optional.empty();
        copy.clientPortAddress = Optional.empty();
        copy.clientTls = Optional.empty();
        return copy.build();
    }

    ConnectionLimits connectionLimits() {
        return new ConnectionLimits(
                maxConnectionsPerAddress, maxConnections, minSessionTimeoutMs, maxSessionTimeoutMs, handshakeTimeoutMs);
    }

    /** A builder with the defaults of {@code zoo.cfg}: no port, in memory. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private Optional<Integer> clientPort = Optional.empty();
        private Optional<String> clientPortAddress = Optional.empty();
        private Optional<Path> dataDirectory = Optional.empty();
        private int tickTimeMs = DEFAULT_TICK_MS;
        private int maxConnectionsPerAddress = 60;
        private int maxConnections;
        private int minSessionTimeoutMs = -1;
        private int maxSessionTimeoutMs = -1;
        private long snapshotEveryEntries = 100_000;
        private int snapshotsKept = 3;
        private int segmentBytes = DEFAULT_SEGMENT_KB * 1024;
        private Reaping reaping = Reaping.DEFAULT;
        private boolean offersTtl = true;
        private long handshakeTimeoutMs = 10_000;
        private Optional<Path> homeDirectory = Optional.empty();
        private EnsembleConfig ensemble = EnsembleConfig.alone(1);
        private Set<String> commandWhitelist = Set.of("srvr");
        private boolean readOnlyMode;
        private Optional<String> superDigest = Optional.empty();
        private ClientAuthConfig clientAuth = ClientAuthConfig.NONE;
        private Optional<ClientTls> clientTls = Optional.empty();
        private ClientLimits clientLimits = ClientLimits.defaults();
        private boolean setsSessionsOfAddress;
        private int eventLoops = Math.min(4, Runtime.getRuntime().availableProcessors());

        private Builder() {}

        /** With the values of a configuration, which {@link #build} leaves as they are. */
        private Builder(ServerConfig config) {
            clientPort = config.clientPort;
            clientPortAddress = config.clientPortAddress;
            dataDirectory = config.dataDirectory;
            tickTimeMs = config.tickTimeMs;
            maxConnectionsPerAddress = config.maxConnectionsPerAddress;
            maxConnections = config.maxConnections;
            minSessionTimeoutMs = config.minSessionTimeoutMs;
            maxSessionTimeoutMs = config.maxSessionTimeoutMs;
            snapshotEveryEntries = config.snapshotEveryEntries;
            snapshotsKept = config.snapshotsKept;
            segmentBytes = config.segmentBytes;
            reaping = config.reaping;
            offersTtl = config.offersTtl;
            handshakeTimeoutMs = config.handshakeTimeoutMs;
            eventLoops = config.eventLoops;
            homeDirectory = config.homeDirectory;
            ensemble = config.ensemble;
            commandWhitelist = config.commandWhitelist;
            readOnlyMode = config.readOnlyMode;
            superDigest = config.superDigest;
            clientAuth = config.clientAuth;
            clientTls = config.clientTls;
            clientLimits = config.clientLimits;
            setsSessionsOfAddress = true;
        }

        /** Opens a TCP port; 0 picks a free one. None by default. */
        public Builder clientPort(int value) {
            clientPort = Optional.of(value);
            return this;
        }

        /** The address to listen on; all by default. */
        public Builder clientPortAddress(String value) {
            clientPortAddress = Optional.of(value);
            return this;
        }

        /** Where log and snapshots are kept; in memory by default. */
        public Builder dataDirectory(Optional<Path> value) {
            dataDirectory = value;
            return this;
        }

        /** The unit of time in ms; 2000 by default. */
        public Builder tickTimeMs(int value) {
            tickTimeMs = value;
            return this;
        }

        /** TCP connections of one address; 60 by default, 0 for no bound. */
        public Builder maxConnectionsPerAddress(int value) {
            maxConnectionsPerAddress = value;
            return this;
        }

        /** Connections in all; no bound by default. */
        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        /** The shortest session timeout; 2 ticks by default. */
        public Builder minSessionTimeoutMs(int value) {
            minSessionTimeoutMs = value;
            return this;
        }

        /** The longest session timeout; 20 ticks by default. */
        public Builder maxSessionTimeoutMs(int value) {
            maxSessionTimeoutMs = value;
            return this;
        }

        /** Entries between snapshots; 100,000 by default. */
        public Builder snapshotEveryEntries(long value) {
            snapshotEveryEntries = value;
            return this;
        }

        /** Snapshots kept; 3 by default. */
        public Builder snapshotsKept(int value) {
            snapshotsKept = value;
            return this;
        }

        /** Size of a log file; 64 MB by default. */
        public Builder segmentBytes(int value) {
            segmentBytes = value;
            return this;
        }

        /** How often empty containers and nodes that have outlived their time are looked for; 60,000 ms by default. */
        public Builder containerCheckIntervalMs(long value) {
            reaping = reaping.withCheckIntervalMs(value);
            return this;
        }

        /** How many of them are deleted in a minute at most; 10,000 by default. */
        public Builder containerMaxPerMinute(int value) {
            reaping = reaping.withMaxPerMinute(value);
            return this;
        }

        /** How long a container may be there without ever having a child; 0, indefinitely, by default. */
        public Builder containerMaxNeverUsedMs(long value) {
            reaping = reaping.withMaxNeverUsedMs(value);
            return this;
        }

        /** Whether nodes with a time to live may be created; they may by default. */
        public Builder offersTtl(boolean value) {
            offersTtl = value;
            return this;
        }

        /** How long a handshake may take; 10,000 ms by default. */
        public Builder handshakeTimeoutMs(long value) {
            handshakeTimeoutMs = value;
            return this;
        }

        /** Threads that serve connections; the processors, 4 at most, by default. */
        public Builder eventLoops(int value) {
            eventLoops = value;
            return this;
        }

        /** Where what is not of the log is kept; the data directory by default. */
        public Builder homeDirectory(Optional<Path> value) {
            homeDirectory = value;
            return this;
        }

        /** This server's number, and the ensemble it belongs to; by itself, as number 1, by default. */
        public Builder ensemble(EnsembleConfig value) {
            ensemble = value;
            return this;
        }

        /** The four-letter words that are answered, {@code *} for all; {@code srvr} by default. */
        public Builder commandWhitelist(Set<String> value) {
            commandWhitelist = Set.copyOf(value);
            return this;
        }

        /** Whether clients that ask for it are served reads while there is no leader; not so by default. */
        public Builder readOnlyMode(boolean value) {
            readOnlyMode = value;
            return this;
        }

        /** The password that makes a connection that of {@code super}: {@code user:digest}; none by default. */
        public Builder superDigest(Optional<String> value) {
            superDigest = value;
            return this;
        }

        /** What clients must prove, and whether their changes are written down; nothing, and not so, by default. */
        public Builder clientAuth(ClientAuthConfig value) {
            clientAuth = value;
            return this;
        }

        /** TLS for clients; none by default. */
        public Builder clientTls(ClientTls value) {
            clientTls = Optional.of(value);
            return this;
        }

        /** Another bound of what clients can make the server hold or do; 0 for none. */
        public Builder clientLimit(ClientLimit limit, long value) {
            clientLimits = clientLimits.with(limit, value);
            setsSessionsOfAddress |= limit == ClientLimit.SESSIONS_OF_ADDRESS;
            return this;
        }

        /** Whether writes beyond the hard limits of quotas are refused; they are not by default. */
        public Builder enforcesQuotas(boolean value) {
            clientLimits = clientLimits.enforcingQuotas(value);
            return this;
        }

        /**
         * The configuration.
         *
         * @throws ConfigException if two values contradict each other
         */
        public ServerConfig build() {
            int minTimeoutMs = minSessionTimeoutMs < 0 ? saturatedTicks(2) : minSessionTimeoutMs;
            int maxTimeoutMs = maxSessionTimeoutMs < 0 ? saturatedTicks(20) : maxSessionTimeoutMs;
            if (minTimeoutMs > maxTimeoutMs) {
                throw new ConfigException("minSessionTimeout " + minTimeoutMs
                        + " ms must not be above maxSessionTimeout " + maxTimeoutMs
                        + " ms (by default they are 2 and 20 times tickTime)");
            }
            superDigest.ifPresent(clientAuth::checkSuperDigest);
            return new ServerConfig(
                    clientPort,
                    clientPortAddress,
                    dataDirectory,
                    tickTimeMs,
                    maxConnectionsPerAddress,
                    maxConnections,
                    minTimeoutMs,
                    maxTimeoutMs,
                    snapshotEveryEntries,
                    snapshotsKept,
                    segmentBytes,
                    reaping,
                    offersTtl,
                    handshakeTimeoutMs,
                    eventLoops,
                    homeDirectory.or(() -> dataDirectory),
                    ensemble,
                    commandWhitelist,
                    readOnlyMode,
                    superDigest,
                    clientAuth,
                    clientTls,
                    clientLimitsInForce());
        }

        /** Where an address may have many connections, many clients share it, and have a session each. */
        private ClientLimits clientLimitsInForce() {
            if (setsSessionsOfAddress) {
                return clientLimits;
            }
            ClientLimit ofAddress = ClientLimit.SESSIONS_OF_ADDRESS;
            if (maxConnectionsPerAddress == 0) {
                return clientLimits.with(ofAddress, 0);
            }
            long ofAll = Math.min(
                    clientLimits.configured(ofAddress), clientLimits.most(ClientLimit.SESSIONS) / ADDRESSES_OF_CLUSTER);
            return clientLimits.with(
                    ofAddress, Math.max(ofAll, SESSIONS_PER_CONNECTION * (long) maxConnectionsPerAddress));
        }

        private int saturatedTicks(int count) {
            return (int) Math.min(Integer.MAX_VALUE, (long) tickTimeMs * count);
        }
    }
}
