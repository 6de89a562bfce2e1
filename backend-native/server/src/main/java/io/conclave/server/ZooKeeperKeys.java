package io.conclave.server;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The keys of ZooKeeper's configuration files, from 3.5 on, that this server does not use, and what it does with a line
 * that has one. A key that this server uses is in {@link ConfigFile}.
 */
final class ZooKeeperKeys {
    /** What a line means for the start of the server. */
    enum Effect {
        /** The server does as well without it. */
        UNUSED,
        /** The operator must know that it is not in force. */
        WARNED,
        /** It promises protection that is missing here, so the server does not start. */
        REFUSED
    }

    /**
     * A key, or in {@link #FAMILIES} the beginning of keys.
     *
     * @param harmless the value that asks for what is so here anyway; empty if there is none
     * @param text what is so here, of a warned key; what it promises, of a refused one
     */
    record Key(String name, ValueRule rule, Effect effect, String harmless, String text) {
        boolean isHarmless(String value) {
            return !harmless.isEmpty() && harmless.equalsIgnoreCase(value);
        }
    }

    private static final Map<String, Key> KEYS = Stream.of(
                    unused("admin.commandURL", ValueRule.ANYTHING),
                    unused("admin.enableServer", ValueRule.TRUTH),
                    unused("admin.forceHttps", ValueRule.TRUTH),
                    unused("admin.httpVersion", ValueRule.WHOLE),
                    unused("admin.idleTimeout", ValueRule.WHOLE),
                    unused("admin.needClientAuth", ValueRule.TRUTH),
                    unused("admin.portUnification", ValueRule.TRUTH),
                    unused("admin.rateLimiterIntervalInMS", ValueRule.WHOLE),
                    unused("admin.restore.enabled", ValueRule.TRUTH),
                    unused("admin.serverAddress", ValueRule.ANYTHING),
                    unused("admin.serverPort", ValueRule.PORT),
                    unused("admin.snapshot.enabled", ValueRule.TRUTH),
                    unused("advancedFlowControlEnabled", ValueRule.TRUTH),
                    unused("audit.impl.class", ValueRule.ANYTHING),
                    unused("autopurge.purgeInterval", ValueRule.INTERVAL),
                    unused("bitHashCacheSize", ValueRule.WHOLE),
                    unused("clientCnxnSocket", ValueRule.ANYTHING),
                    unused("clientPortListenBacklog", ValueRule.WHOLE),
                    unused("clientTcpKeepAlive", ValueRule.TRUTH),
                    unused("closeSessionTxn.enabled", ValueRule.TRUTH),
                    unused("cnxTimeout", ValueRule.WHOLE),
                    unused("commitLogCount", ValueRule.WHOLE),
                    unused("commitProcessor.maxCommitBatchSize", ValueRule.WHOLE),
                    unused("commitProcessor.maxReadBatchSize", ValueRule.WHOLE),
                    unused("commitProcessor.numWorkerThreads", ValueRule.WHOLE),
                    unused("commitProcessor.shutdownTimeout", ValueRule.WHOLE),
                    unused("connection_throttle_decrease_ratio", ValueRule.FRACTION),
                    unused("connection_throttle_drop_decrease", ValueRule.FRACTION),
                    unused("connection_throttle_drop_increase", ValueRule.FRACTION),
                    unused("connection_throttle_fill_count", ValueRule.WHOLE),
                    unused("connection_throttle_fill_time", ValueRule.WHOLE),
                    unused("connection_throttle_freeze_time", ValueRule.WHOLE),
                    unused("connection_throttle_global_session_weight", ValueRule.WHOLE),
                    unused("connection_throttle_local_session_weight", ValueRule.WHOLE),
                    unused("connection_throttle_renew_session_weight", ValueRule.WHOLE),
                    unused("connection_throttle_tokens", ValueRule.WHOLE),
                    unused("connection_throttle_weight_enabled", ValueRule.TRUTH),
                    unused("connectionDecreaseRatio", ValueRule.FRACTION),
                    unused("connectionDropDecrease", ValueRule.FRACTION),
                    unused("connectionDropIncrease", ValueRule.FRACTION),
                    unused("connectionFreezeTime", ValueRule.WHOLE),
                    unused("connectionMaxTokens", ValueRule.WHOLE),
                    unused("connectionTokenFillCount", ValueRule.WHOLE),
                    unused("connectionTokenFillTime", ValueRule.WHOLE),
                    unused("connectToLearnerMasterLimit", ValueRule.WHOLE),
                    unused("controllerPort", ValueRule.PORT),
                    unused("digest.enabled", ValueRule.TRUTH),
                    unused("disableAutoWatchReset", ValueRule.TRUTH),
                    unused("electionPort", ValueRule.PORT),
                    unused("electionPortBindRetry", ValueRule.WHOLE),
                    unused("emulate353TTLNodes", ValueRule.TRUTH),
                    unused("enableEagerACLCheck", ValueRule.TRUTH),
                    unused("fastleader.maxNotificationInterval", ValueRule.WHOLE),
                    unused("fastleader.minNotificationInterval", ValueRule.WHOLE),
                    unused("flushDelay", ValueRule.WHOLE),
                    unused("follower.nodelay", ValueRule.TRUTH),
                    unused("follower.skipLearnerRequestToNextProcessor", ValueRule.TRUTH),
                    unused("forceSnapshotSync", ValueRule.TRUTH),
                    unused("forceSync", ValueRule.YES_OR_NO),
                    unused("forward_learner_requests_to_commit_processor_disabled", ValueRule.TRUTH),
                    unused("fsync.warningthresholdms", ValueRule.WHOLE),
                    unused("globalOutstandingLimit", ValueRule.WHOLE),
                    unused("intBufferStartingSizeBytes", ValueRule.WHOLE),
                    unused("IPAuthenticationProvider.usexforwardedfor", ValueRule.TRUTH),
                    unused("jaasLoginRenew", ValueRule.WHOLE),
                    unused("jmx.log4j.disable", ValueRule.TRUTH),
                    unused("jmx.log4j.mbean", ValueRule.ANYTHING),
                    unused("jute.maxbuffer.extrasize", ValueRule.WHOLE),
                    unused("jvm.pause.info-threshold.ms", ValueRule.WHOLE),
                    unused("jvm.pause.monitor", ValueRule.TRUTH),
                    unused("jvm.pause.sleep.time.ms", ValueRule.WHOLE),
                    unused("jvm.pause.warn-threshold.ms", ValueRule.WHOLE),
                    unused("kerberos.canonicalizeHostNames", ValueRule.TRUTH),
                    unused("kerberos.minReLoginTimeMs", ValueRule.WHOLE),
                    unused("kinit", ValueRule.ANYTHING),
                    unused("largeRequestMaxBytes", ValueRule.WHOLE),
                    unused("largeRequestThreshold", ValueRule.WHOLE),
                    unused("leader.ackLoggingFrequency", ValueRule.WHOLE),
                    unused("leader.closeSocketAsync", ValueRule.TRUTH),
                    unused("leader.maxConcurrentDiffSyncs", ValueRule.WHOLE),
                    unused("leader.maxConcurrentSnapshots", ValueRule.WHOLE),
                    unused("leader.maxConcurrentSnapshotTimeout", ValueRule.WHOLE),
                    unused("leader.maxConcurrentSnapSyncs", ValueRule.WHOLE),
                    unused("leader.maxTimeToWaitForEpoch", ValueRule.WHOLE),
                    unused("leader.nodelay", ValueRule.TRUTH),
                    unused("leaderConnectDelayDuringRetryMs", ValueRule.WHOLE),
                    unused("leaderServes", ValueRule.YES_OR_NO),
                    unused("learner.asyncSending", ValueRule.TRUTH),
                    unused("learner.closeSocketAsync", ValueRule.TRUTH),
                    unused("letAnySaslUserDoX", ValueRule.ANYTHING),
                    unused("localSessionsEnabled", ValueRule.TRUTH),
                    unused("localSessionsUpgradingEnabled", ValueRule.TRUTH),
                    unused("maxBatchSize", ValueRule.WHOLE),
                    unused("maxConcurrentDiffSyncs", ValueRule.WHOLE),
                    unused("maxConcurrentSnapSyncs", ValueRule.WHOLE),
                    unused("maxGetChildrenResponseCacheSize", ValueRule.WHOLE),
                    unused("maxInProcessingDeadWatchers", ValueRule.WHOLE),
                    unused("maxResponseCacheSize", ValueRule.WHOLE),
                    unused("maxTimeToWaitForEpoch", ValueRule.WHOLE),
                    unused("maxWriteQueuePollTime", ValueRule.WHOLE),
                    unused("messageTracker.BufferSize", ValueRule.WHOLE),
                    unused("messageTracker.Enabled", ValueRule.TRUTH),
                    unused("metricsProvider.className", ValueRule.ANYTHING),
                    unused("multiAddress.enabled", ValueRule.TRUTH),
                    unused("multiAddress.reachabilityCheckEnabled", ValueRule.TRUTH),
                    unused("multiAddress.reachabilityCheckTimeoutMs", ValueRule.WHOLE),
                    unused("netty.advancedFlowControl.enabled", ValueRule.TRUTH),
                    unused("netty.server.earlyDropSecureConnectionHandshakes", ValueRule.TRUTH),
                    unused("netty.server.outstandingHandshake.limit", ValueRule.WHOLE),
                    unused("nio.directBufferBytes", ValueRule.WHOLE),
                    unused("nio.numSelectorThreads", ValueRule.WHOLE),
                    unused("nio.numWorkerThreads", ValueRule.WHOLE),
                    unused("nio.sessionlessCnxnTimeout", ValueRule.WHOLE),
                    unused("nio.shutdownTimeout", ValueRule.WHOLE),
                    unused("observer.election.DelayMs", ValueRule.WHOLE),
                    unused("observer.reconnectDelayMs", ValueRule.WHOLE),
                    unused("observer.syncEnabled", ValueRule.TRUTH),
                    unused("observerMaster.sizeLimit", ValueRule.WHOLE),
                    unused("observerMasterPort", ValueRule.PORT),
                    unused("outstandingHandshake.limit", ValueRule.WHOLE),
                    unused("pathStats.delay", ValueRule.WHOLE),
                    unused("pathStats.enabled", ValueRule.TRUTH),
                    unused("pathStats.initialDelay", ValueRule.WHOLE),
                    unused("pathStats.maxDepth", ValueRule.WHOLE),
                    unused("pathStats.sampleRate", ValueRule.FRACTION),
                    unused("pathStats.slotCapacity", ValueRule.WHOLE),
                    unused("pathStats.slotDuration", ValueRule.WHOLE),
                    unused("pathStats.topPathMax", ValueRule.WHOLE),
                    unused("quorum.auth.kerberos.servicePrincipal", ValueRule.ANYTHING),
                    unused("quorum.auth.learner.saslLoginContext", ValueRule.ANYTHING),
                    unused("quorum.auth.server.saslLoginContext", ValueRule.ANYTHING),
                    unused("quorum.cnxn.threads.size", ValueRule.WHOLE),
                    unused("quorumCnxnTimeoutMs", ValueRule.WHOLE),
                    unused("reconfigEnabled", ValueRule.TRUTH),
                    unused("request.timeout", ValueRule.WHOLE),
                    unused("request_stale_connection_check", ValueRule.TRUTH),
                    unused("request_stale_latency_check", ValueRule.TRUTH),
                    unused("request_throttle_drop_stale", ValueRule.TRUTH),
                    unused("request_throttle_max_requests", ValueRule.WHOLE),
                    unused("request_throttle_stall_time", ValueRule.WHOLE),
                    unused("request_throttler.shutdownTimeout", ValueRule.WHOLE),
                    unused("requestStaleConnectionCheck", ValueRule.TRUTH),
                    unused("requestStaleLatencyCheck", ValueRule.TRUTH),
                    unused("requestThrottleDropStale", ValueRule.TRUTH),
                    unused("requestThrottleLimit", ValueRule.WHOLE),
                    unused("requestThrottleStallTime", ValueRule.WHOLE),
                    unused("requireKerberosConfig", ValueRule.TRUTH),
                    unused("sasl.client", ValueRule.TRUTH),
                    unused("sasl.client.allowReverseDnsLookup", ValueRule.TRUTH),
                    unused("sasl.client.canonicalize.hostname", ValueRule.TRUTH),
                    unused("sasl.client.username", ValueRule.ANYTHING),
                    unused("sasl.clientconfig", ValueRule.ANYTHING),
                    unused("SASLAuthenticationProvider.superPassword", ValueRule.ANYTHING),
                    unused("serializeLastProcessedZxid.enabled", ValueRule.TRUTH),
                    unused("server.principal", ValueRule.ANYTHING),
                    unused("server.realm", ValueRule.ANYTHING),
                    unused("serverCnxnFactory", ValueRule.ANYTHING),
                    unused("snapshot.compression.method", ValueRule.ANYTHING),
                    unused("snapshot.trust.empty", ValueRule.TRUTH),
                    unused("snapshotSizeFactor", ValueRule.FRACTION),
                    unused("snapSizeLimitInKb", ValueRule.WHOLE),
                    unused("standaloneEnabled", ValueRule.TRUTH),
                    unused("syncEnabled", ValueRule.TRUTH),
                    unused("tcpKeepAlive", ValueRule.TRUTH),
                    unused("throttled_op_wait_time", ValueRule.WHOLE),
                    unused("throttledOpWaitTime", ValueRule.WHOLE),
                    unused("txnLogSizeLimitInKb", ValueRule.WHOLE),
                    unused("version", ValueRule.ANYTHING),
                    unused("watcherCleanIntervalInSeconds", ValueRule.WHOLE),
                    unused("watcherCleanThreadsNum", ValueRule.WHOLE),
                    unused("watcherCleanThreshold", ValueRule.WHOLE),
                    unused("watchManagerName", ValueRule.ANYTHING),
                    warned("datadir.autocreate", ValueRule.TRUTH, "true", "a missing directory is created"),
                    warned(
                            "db.autocreate",
                            ValueRule.TRUTH,
                            "true",
                            "a server by itself whose directory is empty begins with an empty tree"),
                    warned("fips-mode", ValueRule.TRUTH, "false", "nothing keeps the JVM to the algorithms of FIPS"),
                    warned("jute.maxbuffer", ValueRule.WHOLE, "", "the bound of a request is 1 MB"),
                    warned(
                            "oraclePath",
                            ValueRule.ANYTHING,
                            "",
                            "no oracle is asked: without a majority there is no leader"),
                    warned("skipACL", ValueRule.YES_OR_NO, "no", "ACLs are checked"),
                    refused("client.secure", ValueRule.TRUTH, "false", "TLS for clients"),
                    refused(
                            "DigestAuthenticationProvider.enabled",
                            ValueRule.TRUTH,
                            "true",
                            "that the scheme digest is refused"),
                    refused("ensembleAuthName", ValueRule.ANYTHING, "", "that clients of another ensemble are refused"),
                    refused("quorum.auth.enableSasl", ValueRule.TRUTH, "false", "authentication between servers"),
                    refused(
                            "quorum.auth.learnerRequireSasl",
                            ValueRule.TRUTH,
                            "false",
                            "authentication between servers"),
                    refused(
                            "quorum.auth.serverRequireSasl",
                            ValueRule.TRUTH,
                            "false",
                            "authentication between servers"),
                    refused("requireClientAuthScheme", ValueRule.ANYTHING, "", "that clients must authenticate"))
            .collect(Collectors.toMap(Key::name, Function.identity()));

    /** The first that fits counts. */
    private static final List<Key> FAMILIES = List.of(
            unused("metricsProvider.", ValueRule.ANYTHING),
            warned("group.", ValueRule.SERVERS, "", "a quorum is a majority of the voters, and each has one vote"),
            warned("weight.", ValueRule.WHOLE, "1", "a quorum is a majority of the voters, and each has one vote"),
            refused("ssl.", ValueRule.ANYTHING, "", "TLS for clients"),
            refused("authProvider.", ValueRule.ANYTHING, "", "a scheme of authentication"));

    private ZooKeeperKeys() {}

    /** What is known of a key; empty if ZooKeeper does not have it. */
    static Optional<Key> find(String name) {
        Key key = KEYS.get(name);
        return key != null
                ? Optional.of(key)
                : FAMILIES.stream()
                        .filter(family -> name.startsWith(family.name()))
                        .findFirst();
    }

    private static Key unused(String name, ValueRule rule) {
        return new Key(name, rule, Effect.UNUSED, "", "");
    }

    private static Key warned(String name, ValueRule rule, String harmless, String instead) {
        return new Key(name, rule, Effect.WARNED, harmless, instead);
    }

    private static Key refused(String name, ValueRule rule, String harmless, String promise) {
        return new Key(name, rule, Effect.REFUSED, harmless, promise);
    }
}
