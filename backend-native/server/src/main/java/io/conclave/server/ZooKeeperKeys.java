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

    /** Those of which the operator is told. */
    private static final List<Key> TOLD = List.of(
            warned("datadir.autocreate", ValueRule.TRUTH, "true", "a missing directory is created"),
            warned(
                    "db.autocreate",
                    ValueRule.TRUTH,
                    "true",
                    "a server by itself whose directory is empty begins with an empty tree"),
            warned("fips-mode", ValueRule.TRUTH, "false", "nothing keeps the JVM to the algorithms of FIPS"),
            warned("jute.maxbuffer", ValueRule.WHOLE, "", "the bound of a request is 1 MB"),
            warned("oraclePath", ValueRule.ANYTHING, "", "no oracle is asked: without a majority there is no leader"),
            warned("skipACL", ValueRule.YES_OR_NO, "no", "ACLs are checked"),
            warned(
                    "ssl.quorum.allowReverseDnsLookup",
                    ValueRule.TRUTH,
                    "false",
                    "a certificate must be for the host of the server line"),
            warned("ssl.sslProvider", ValueRule.ANYTHING, "JDK", "TLS is that of Java"),
            refused("client.secure", ValueRule.TRUTH, "false", "TLS for clients"),
            refused(
                    "DigestAuthenticationProvider.enabled",
                    ValueRule.TRUTH,
                    "true",
                    "that the scheme digest is refused"),
            refused("ensembleAuthName", ValueRule.ANYTHING, "", "that clients of another ensemble are refused"),
            refused("quorum.auth.enableSasl", ValueRule.TRUTH, "false", "authentication between servers"),
            refused("quorum.auth.learnerRequireSasl", ValueRule.TRUTH, "false", "authentication between servers"),
            refused("quorum.auth.serverRequireSasl", ValueRule.TRUTH, "false", "authentication between servers"),
            refused("requireClientAuthScheme", ValueRule.ANYTHING, "", "that clients must authenticate"),
            refused(
                    "ssl.allowReverseDnsLookup",
                    ValueRule.TRUTH,
                    "false",
                    "that a client's certificate may be for the name that DNS gives its address"));

    private static final Map<String, Key> KEYS = Stream.of(
                    allUnused(ValueRule.ANYTHING, """
                            admin.commandURL admin.serverAddress audit.impl.class clientCnxnSocket
                            jmx.log4j.mbean kinit letAnySaslUserDoX metricsProvider.className
                            quorum.auth.kerberos.servicePrincipal quorum.auth.learner.saslLoginContext
                            quorum.auth.server.saslLoginContext sasl.client.username sasl.clientconfig
                            SASLAuthenticationProvider.superPassword server.principal server.realm
                            serverCnxnFactory snapshot.compression.method version watchManagerName"""),
                    allUnused(ValueRule.TRUTH, """
                            admin.enableServer admin.forceHttps admin.needClientAuth admin.portUnification
                            admin.restore.enabled admin.snapshot.enabled advancedFlowControlEnabled
                            clientTcpKeepAlive closeSessionTxn.enabled connection_throttle_weight_enabled
                            digest.enabled disableAutoWatchReset emulate353TTLNodes enableEagerACLCheck
                            follower.nodelay follower.skipLearnerRequestToNextProcessor forceSnapshotSync
                            forward_learner_requests_to_commit_processor_disabled
                            IPAuthenticationProvider.usexforwardedfor jmx.log4j.disable jvm.pause.monitor
                            kerberos.canonicalizeHostNames leader.closeSocketAsync leader.nodelay
                            learner.asyncSending learner.closeSocketAsync localSessionsEnabled
                            localSessionsUpgradingEnabled messageTracker.Enabled multiAddress.enabled
                            multiAddress.reachabilityCheckEnabled netty.advancedFlowControl.enabled
                            netty.server.earlyDropSecureConnectionHandshakes observer.syncEnabled
                            pathStats.enabled reconfigEnabled request_stale_connection_check
                            request_stale_latency_check request_throttle_drop_stale requestStaleConnectionCheck
                            requestStaleLatencyCheck requestThrottleDropStale requireKerberosConfig sasl.client
                            sasl.client.allowReverseDnsLookup sasl.client.canonicalize.hostname
                            serializeLastProcessedZxid.enabled snapshot.trust.empty standaloneEnabled syncEnabled
                            tcpKeepAlive"""),
                    allUnused(ValueRule.YES_OR_NO, "forceSync leaderServes"),
                    allUnused(ValueRule.WHOLE, """
                            admin.httpVersion admin.idleTimeout admin.rateLimiterIntervalInMS bitHashCacheSize
                            clientPortListenBacklog cnxTimeout commitLogCount commitProcessor.maxCommitBatchSize
                            commitProcessor.maxReadBatchSize commitProcessor.numWorkerThreads
                            commitProcessor.shutdownTimeout connection_throttle_fill_count
                            connection_throttle_fill_time connection_throttle_freeze_time
                            connection_throttle_global_session_weight connection_throttle_local_session_weight
                            connection_throttle_renew_session_weight connection_throttle_tokens
                            connectionFreezeTime connectionMaxTokens connectionTokenFillCount
                            connectionTokenFillTime connectToLearnerMasterLimit electionPortBindRetry
                            fastleader.maxNotificationInterval fastleader.minNotificationInterval flushDelay
                            fsync.warningthresholdms globalOutstandingLimit intBufferStartingSizeBytes
                            jaasLoginRenew jute.maxbuffer.extrasize jvm.pause.info-threshold.ms
                            jvm.pause.sleep.time.ms jvm.pause.warn-threshold.ms kerberos.minReLoginTimeMs
                            largeRequestMaxBytes largeRequestThreshold leader.ackLoggingFrequency
                            leader.maxConcurrentDiffSyncs leader.maxConcurrentSnapshots
                            leader.maxConcurrentSnapshotTimeout leader.maxConcurrentSnapSyncs
                            leader.maxTimeToWaitForEpoch leaderConnectDelayDuringRetryMs maxBatchSize
                            maxConcurrentDiffSyncs maxConcurrentSnapSyncs maxGetChildrenResponseCacheSize
                            maxInProcessingDeadWatchers maxResponseCacheSize maxTimeToWaitForEpoch
                            maxWriteQueuePollTime messageTracker.BufferSize
                            multiAddress.reachabilityCheckTimeoutMs netty.server.outstandingHandshake.limit
                            nio.directBufferBytes nio.numSelectorThreads nio.numWorkerThreads
                            nio.sessionlessCnxnTimeout nio.shutdownTimeout observer.election.DelayMs
                            observer.reconnectDelayMs observerMaster.sizeLimit outstandingHandshake.limit
                            pathStats.delay pathStats.initialDelay pathStats.maxDepth pathStats.slotCapacity
                            pathStats.slotDuration pathStats.topPathMax quorum.cnxn.threads.size
                            quorumCnxnTimeoutMs request.timeout request_throttle_max_requests
                            request_throttle_stall_time request_throttler.shutdownTimeout requestThrottleLimit
                            requestThrottleStallTime snapSizeLimitInKb ssl.handshakeDetectionTimeoutMillis
                            ssl.quorum.handshakeDetectionTimeoutMillis throttled_op_wait_time throttledOpWaitTime
                            txnLogSizeLimitInKb watcherCleanIntervalInSeconds watcherCleanThreadsNum
                            watcherCleanThreshold"""),
                    allUnused(ValueRule.FRACTION, """
                            connection_throttle_decrease_ratio connection_throttle_drop_decrease
                            connection_throttle_drop_increase connectionDecreaseRatio connectionDropDecrease
                            connectionDropIncrease pathStats.sampleRate snapshotSizeFactor"""),
                    allUnused(ValueRule.PORT, "admin.serverPort controllerPort electionPort observerMasterPort"),
                    allUnused(ValueRule.INTERVAL, "autopurge.purgeInterval"),
                    TOLD.stream())
            .flatMap(Function.identity())
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

    /** Unused keys of one rule, with a space between their names. */
    private static Stream<Key> allUnused(ValueRule rule, String names) {
        return Stream.of(names.split("\\s+")).map(name -> unused(name, rule));
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
