package io.conclave.server;

import io.conclave.consensus.FatalHandler;
import io.conclave.consensus.JoinTokens;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogOptionsBuilder;
import io.conclave.consensus.PeerTls;
import io.conclave.time.TimeSource;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Makes the options of a server's log from the server's configuration. */
final class ServerLogOptions {
    private static final int HEARTBEATS_PER_ELECTION_TIMEOUT = 5;

    private static final int MAX_ENTRY_BYTES = 2 << 20;

    /** What waits for the log is on the heap, twice (as a change and as bytes), and clients decide how much it is. */
    private static final long MAX_QUEUED_BYTES = Math.min(
            64 << 20, Math.max(2 * MAX_ENTRY_BYTES, Runtime.getRuntime().maxMemory() / 16));

    /**
     * The log's end, which is kept in memory for members that lag; a follower of several MB less gets it from the
     * files.
     */
    private static final long LOG_WINDOW_BYTES =
            Math.min(64 << 20, Math.max(4 << 20, Runtime.getRuntime().maxMemory() / 16));

    private ServerLogOptions() {}

    /**
     * The options.
     *
     * @param beginsCluster whether an empty directory becomes a new cluster
     * @param featureLevel what this version understands
     * @param clock tells the log's time
     * @param failed called once if the log fails, on the log's thread
     */
    static LogOptions of(
            ServerConfig config,
            boolean beginsCluster,
            int featureLevel,
            TimeSource time,
            SteadyWallClock clock,
            BackgroundThreads background,
            PeerSecretReload peerSecrets,
            PeerTls peerTls,
            FatalHandler failed) {
        EnsembleConfig ensemble = config.ensemble();
        LogOptionsBuilder options = LogOptions.builder(
                        clock::millis,
                        () -> TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos()),
                        background.workers(),
                        (delayMs, action) -> time.schedule(Duration.ofMillis(delayMs), action),
                        failed)
                .segmentWork(background.segmentWork())
                .lookups(background.lookups())
                .windowBytes(LOG_WINDOW_BYTES)
                .maxEntryBytes(MAX_ENTRY_BYTES)
                .maxQueuedBytes(MAX_QUEUED_BYTES)
                .memberId(ensemble.memberId())
                .members(ensemble.members())
                .bootstrap(beginsCluster)
                .electionTimeoutMs(ensemble.electionTimeoutMs())
                .heartbeatMs(Math.max(1, ensemble.electionTimeoutMs() / HEARTBEATS_PER_ELECTION_TIMEOUT))
                .stopServingAfterMs(stopServingAfterMs(config))
                .dialInstead(ensemble.dialInstead())
                .peerSecrets(peerSecrets)
                .joinTokens(joinTokens(config, time))
                .peerTls(peerTls)
                .featureLevel(featureLevel)
                .segmentBytes(config.segmentBytes())
                .snapshotEveryEntries(config.snapshotEveryEntries())
                .snapshotsKept(config.snapshotsKept());
        if (ensemble.listensOnAllAddresses()) {
            ensemble.self().ifPresent(self -> options.peerListen(new InetSocketAddress(self.peerPort())));
        }
        return options.build();
    }

    private static JoinTokens joinTokens(ServerConfig config, TimeSource time) {
        return JoinTokenFiles.of(config, time).<JoinTokens>map(tokens -> tokens).orElse(JoinTokens.NONE);
    }

    /** How long there may be no leader before clients are sent away. */
    static long stopServingAfterMs(ServerConfig config) {
        return (long) config.ensemble().syncLimitTicks() * config.tickTimeMs();
    }
}
